# Robot windows: what a page and a robot's program say to each other, and how the files of a page are served.
import os
import socket
import subprocess
import sys

from viewer_client import LIMIT, Closed, Run, check, get, hash_of, raw_request

WORLD, LOG = sys.argv[1:]


def heard(client):
    return [push["text"] for push in client.pushes if push["is"] == "window"]


def wait_heard(client, text):
    client.until(lambda: text in heard(client))


def node_of(client, name):
    return next(node for node in client.do("children", node=0)["nodes"] if node.get("def") == name)["node"]


def words_go_both_ways(run):
    client = run.client()
    robot = node_of(client, "TALKS")
    client.do("watch", what=f"window:{robot}")
    for text in ("first", "second", "ünï \"<b>\" \\ \n"):  # before the program has started
        client.do("window", node=robot, text=text)
    client.do("step", n=3)
    wait_heard(client, "1.2 ünï \"<b>\" \\ \n")
    check(heard(client) == ["1.0 first", "1.1 second", "1.2 ünï \"<b>\" \\ \n"], str(heard(client)))
    message = next(push for push in client.pushes if push["is"] == "window")
    check(message["robot"] == "talks <b>" and message["node"] == robot, str(message))
    client.wait_step(3)
    client.do("window", node=robot, text="later")
    client.do("step", n=8)  # what a program says comes with its request for the next step
    wait_heard(client, "4.0 later")
    wait_heard(client, "at 10")
    client.wait_step(11)  # all steps are made: what comes next falls into the one after
    return client, robot


def only_those_who_watch_hear(run, client, robot):
    other = run.client("look")
    check("looking" in other.refused("window", node=robot, text="x"), "spectators do not speak")
    client.do("window", node=robot, text="alone")
    client.do("step", n=2)
    wait_heard(client, "12.0 alone")
    other.do("ping")
    check(heard(other) == [], "who has no window open hears nothing")
    client.do("watch", what=f"window:{robot}", on=False)
    client.do("step", n=10)
    client.until(lambda: any(push["is"] == "diagnostic" and "nobody has open" in push["text"] for push in client.pushes))
    client.do("watch", what=f"window:{robot}")
    client.wait_step(23)  # the world stands: nothing takes what the next words leave
    other.close()


def nonsense_is_refused(run, client, robot):
    for message in ({"node": robot}, {"node": robot, "text": 7}, {"text": "x"}, {"node": 4000000, "text": "x"}, {"node": -1, "text": "x"},
                    {"node": 0, "text": "x"}, {"node": node_of(client, "SILENT"), "text": "x"}):
        client.refused("window", **message)
    client.refused("watch", what="window:")
    client.refused("watch", what="window:4000000")
    for _ in range(5):
        client.do("window", node=robot, text="x" * 200000)
    check("has not taken" in client.refused("window", node=robot, text="x" * 200000), "what waits is bounded")
    client.do("window", node=robot, text="raw")  # the program answers with bytes that are no text
    client.do("step", n=2)
    client.until(lambda: any(text.endswith(" raw") for text in heard(client)))
    loud = run.client()
    loud.do("take")
    try:
        loud.send({"do": "window", "node": robot, "text": "x" * (1 << 20)})
        while True:
            loud.read()
    except Closed:
        pass
    client.do("take")
    client.do("window", node=robot, text="still here")
    client.do("step", n=2)
    client.until(lambda: any(text.endswith("still here") for text in heard(client)))
    client.wait_step(27)


class Pages:
    """The port of a run's robot windows."""

    def __init__(self, run, answer):
        self.address = (run.address[0], answer["port"])
        self.host = f"{run.address[0]}:{answer['port']}"


def files_are_served(run, client, robot):
    answer = client.do("windows")
    check([(one["node"], one["name"], one["page"]) for one in answer["windows"]] == [(robot, "talks <b>", "talks.html")], str(answer))
    pages, token = Pages(run, answer), answer["token"]
    check(answer["port"] != run.address[1] and token not in run.links.values() and len(token) == 32, "another origin and another secret")
    below = f"/{token}/{robot}"
    status, headers, body = get(pages, f"{below}/talks.html?name=talks")
    check(status == 200 and headers["content-type"] == "text/html; charset=utf-8", f"{status} {headers}")
    check(f"from '/{token}/RobotWindow.js'".encode() in body and b"cyberbotics" not in body, "the class is ours: " + body.decode())
    policy = headers["content-security-policy"]
    check("sandbox allow-scripts allow-forms allow-popups;" in policy and f"frame-ancestors http://{run.host}" in policy, policy)
    check(f"connect-src http://{pages.host} " in policy and "allow-same-origin" not in policy and run.links["open"] not in str(headers), policy)
    check(f"frame-src http://{pages.host};" in get(run, "/")[1]["content-security-policy"], "the page may show windows and nothing else")
    for name, kind in (("talks.css", "text/css"), ("within.css", "text/css"), ("parts/count.js", "text/javascript")):
        status, headers, body = get(pages, f"{below}/{name}")
        check(status == 200 and headers["content-type"].startswith(kind) and body, f"{name}: {status} {headers}")
    status, headers, body = get(pages, f"{below}/talks.css", method="HEAD")
    check(status == 200 and int(headers["content-length"]) > 0 and body == b"", f"HEAD: {status} {headers}")
    own = f"/{token}/RobotWindow.js"
    check(get(pages, f"{below}/odd.js")[2].decode() == f"{own} {own} h https://cyberbotics.com/wwi/a/b/RobotWindow.js https://cyberbotics.com/wwi/",
          "addresses that are replaced")
    if get(run, "/page.js")[0] == 200:  # the page was built
        for path in (own, f"{below}/parts/RobotWindow.js"):
            status, headers, body = get(pages, path)
            check(status == 200 and headers["content-type"].startswith("text/javascript") and b"init robot window" in body, f"{path}: {status}")
    request = f"GET {below}/large.bin HTTP/1.1\r\nHost: {pages.host}\r\n\r\n".encode()
    for _ in range(20):  # who goes away in the middle leaves nothing behind
        with socket.create_connection(pages.address, timeout=LIMIT) as connection:
            connection.sendall(request)
            check(connection.recv(1000).startswith(b"HTTP/1.1 200"), "a large file")
    check(len(get(pages, f"{below}/large.bin")[2]) == 7 << 20, "and all of it")
    return pages, token, below


def nothing_else_is_served(run, client, pages, token, below):
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    silent = node_of(client, "OUTSIDE")
    for path in ("/", "/socket", "/page.js", f"/{token}", f"/{token}/", below, f"{below}/", f"{below}/none.html", f"{below}/.hidden", f"{below}/out.html", f"{below}/out/other.html",
                 f"{below}/../../worlds/windows.wbt", f"{below}/%2e%2e/other/other.html", f"{below}/..%2fother%2fother.html", f"{below}/parts/../../other/other.html",
                 f"{below}//etc/passwd", f"{below}/%2fetc/passwd", f"{below}/talks.html%00.css/x", f"{below}/parts", f"{below}/pipe.txt", f"{below}/huge.bin",
                 f"{below}/" + "a/" * 1000, f"/{wrong}{below[33:]}/talks.html", f"/{run.links['open']}{below[33:]}/talks.html", f"/{token[:-1]}{below[33:]}/talks.html",
                 f"/{token}/4000000/talks.html", f"/{token}/{silent}/talks.html", f"/{token}/-1/talks.html", f"/{token}//talks.html", f"/{wrong}/RobotWindow.js"):
        status, headers, body = get(pages, path)
        check(status != 200 and b"secret" not in body and b"root:" not in body, f"{path}: {status} {body[:60]}")
    for host in ("evil.example", f"evil.example:{pages.address[1]}", run.host):
        check(get(pages, f"{below}/talks.html", host=host)[0] == 403, f"Host {host}")
    check(get(pages, f"{below}/talks.html", method="POST", extra="Content-Length: 0\r\n")[0] != 200, "POST")
    check(get(run, f"{below}/talks.html")[0] == 404, "the port of the viewer has no pages of windows")
    key = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    for extra in ("", "Sec-WebSocket-Protocol: talus\r\n", "Sec-WebSocket-Protocol: window\r\n"):
        data = raw_request(pages, f"GET /socket HTTP/1.1\r\nHost: {pages.host}\r\n{key}{extra}\r\n")
        check(b" 101 " not in data.split(b"\r\n")[0], f"no socket there: {data[:60]}")
    origin = f"Origin: null\r\nSec-WebSocket-Protocol: talus\r\n{key}"
    check(b" 101 " not in raw_request(run, f"GET /socket HTTP/1.1\r\nHost: {run.host}\r\n{origin}\r\n").split(b"\r\n")[0], "a page without origin gets no socket")
    client.do("ping")


def a_reset_forgets_what_waits(client, robot):
    client.do("window", node=robot, text="stale")
    client.do("reset")
    client.do("window", node=robot, text="fresh")
    client.do("step", n=2)
    wait_heard(client, "1.0 fresh")
    check(not any("stale" in text for text in heard(client)), "a program that starts again gets nothing of before")


def log_repeats_words():
    run = Run(WORLD, "--log", LOG, "--hash", "--steps", "150", "--mode", "fast")
    client = run.client()
    robot = node_of(client, "TALKS")
    for k, text in enumerate(("go", "stop", "go", "go", "stop", "go")):
        client.do("window", node=robot, text=text)
        client.do("step", n=7 + k)
    client.do("reset")
    client.do("window", node=robot, text="go")
    client.do("play")
    client.read_to_end()
    code, text = run.wait()
    check(code == 0, text)
    arguments = [os.environ["TALUS_PROGRAM"], "run", WORLD, "--steps", "150", "--hash", "--quiet"]
    again = subprocess.run([*arguments, "--input", LOG], capture_output=True, text=True, timeout=LIMIT)
    check(again.returncode == 0 and hash_of(again.stdout) == hash_of(text), "words of the log: " + again.stdout + again.stderr)
    alone = subprocess.run(arguments, capture_output=True, text=True, timeout=LIMIT)
    check(hash_of(alone.stdout) != hash_of(text), "the words matter")


if __name__ == "__main__":
    shown = Run(WORLD)
    page, number = words_go_both_ways(shown)
    only_those_who_watch_hear(shown, page, number)
    nonsense_is_refused(shown, page, number)
    nothing_else_is_served(shown, page, *files_are_served(shown, page, number))
    a_reset_forgets_what_waits(page, number)
    status, output = shown.end()
    check(status in (0, 130) and "something is left" not in output, f"{status} {output}")
    log_repeats_words()
    print("viewer: robot windows talk with programs, a log repeats it, their files alone are served")
