# The server of `talus view`: the page, who is let in, roles, limits, and clients that do not behave.
import json
import os
import socket

from viewer_client import Client, Closed, Run, check, get, hash_of, raw_request, upgrade

WORLD = "scenes/box.wbt"


def page_is_served(run):
    status, headers, body = get(run, "/")
    check(status == 200 and headers["content-type"].startswith("text/html"), "the page")
    policy = headers["content-security-policy"]
    check("default-src 'none'" in policy and "unsafe" not in policy, "a policy without inline code: " + policy)
    check(f"ws://{run.host}" in policy, "the policy names the socket")
    check(headers["x-content-type-options"] == "nosniff", "types are not guessed")
    check(len(body) == int(headers["content-length"]), "the whole body")
    head_status, head, nothing = get(run, "/", method="HEAD")
    check(head_status == 200 and head["content-length"] == headers["content-length"] and not nothing, "HEAD")
    check(get(run, "/", extra=f"If-None-Match: {headers['etag']}\r\n")[0] == 304 if "etag" in headers else True, "ETag")
    for path, wanted in (("/nothing", 404), ("/../etc/passwd", 404), ("/recording", 404), ("/replay-head", 404)):
        check(get(run, path)[0] == wanted, f"{path} gives {wanted}")
    check(get(run, "/", method="POST", extra="Content-Length: 0\r\n")[0] in (0, 405), "POST is not understood")


def strangers_are_refused(run):
    port = run.address[1]
    for host in ("evil.org", f"evil.org:{port}", f"localhost.evil.org:{port}", f"l:{port}", "127.0.0.1", f"10.0.0.1:{port}"):
        check(get(run, "/", host=host)[0] == 403, f"Host {host}")
        check(b" 101 " not in raw_request(run, upgrade(run, host=host)), f"socket for Host {host}")
    for host in (f"localhost:{port}", f"127.0.0.1:{port}"):
        check(b" 101 " in raw_request(run, upgrade(run, host=host)), f"socket for Host {host}")
    for origin in ("http://evil.org", "null", f"https://{run.host}", "http://127.0.0.1", f"http://{run.host}.evil.org"):
        check(b" 101 " not in raw_request(run, upgrade(run, origin=origin)), f"Origin {origin}")
    check(b" 101 " in raw_request(run, upgrade(run, origin=None)), "programs have no Origin")
    check(b" 101 " not in raw_request(run, upgrade(run, path="/other")), "another path")
    check(b" 101 " not in raw_request(run, upgrade(run, protocol=None)), "no protocol")
    check(b" 101 " not in raw_request(run, upgrade(run, protocol="chat")), "another protocol")


def says_bye(client):
    try:
        while True:
            message = client.read()
            if message and message.get("is") == "bye":
                return message["text"]
    except Closed:
        return None


def is_ended(client):
    try:
        while True:
            client.message()
    except Closed:
        return True


def tokens_are_wanted(run):
    wrong = "0" * 32
    for message, words in (({"do": "hello", "token": wrong, "protocol": 1}, "token"),
                           ({"do": "hello", "token": run.links["open"][:31], "protocol": 1}, "token"),
                           ({"do": "hello", "token": None, "protocol": 1}, "token"),
                           ({"do": "hello", "protocol": 1}, "token"),
                           ({"do": "hello", "token": run.links["open"], "protocol": 99}, "version"),
                           ({"do": "play", "token": run.links["open"]}, "hello"),
                           ([1, 2], "hello")):
        client = Client(run, hello=False)
        client.send(message)
        check(words in (says_bye(client) or ""), f"{message} is answered with words about the {words}")
        check(is_ended(client), "and with the end of the connection")
    for payload, opcode in ((b"x" * 5000, 1), (b"\0\1", 2), (b"{", 1)):
        client = Client(run, hello=False)
        client.send_raw(payload, opcode)
        check(is_ended(client), "what is no greeting ends the connection")


def roles_are_kept(run):
    first, second, watcher = run.client(), run.client(), run.client("look")
    check(first.welcome["role"] == "controller", "the first has the controls")
    check(second.welcome["role"] == "spectator" and second.welcome["mayControl"], "the second may ask for them")
    check(watcher.welcome["role"] == "spectator" and not watcher.welcome["mayControl"], "the other link is for looking")
    for act in ("play", "reset", "reload", "undo", "save", "delete"):
        check("looking only" in watcher.refused(act, node=1), f"{act} is not for those who look")
        check("take" in second.refused(act, node=1), f"{act} needs the controls")
    check("looking only" in watcher.refused("take"), "nor are the controls")
    check(watcher.do("children", node=0)["nodes"], "they may look at the tree")
    check(watcher.do("watch", what="states", on=True), "and watch")
    second.do("take")
    first.wait_push("state", role="spectator")
    first.refused("step")
    second.do("step", n=1)
    for client in (first, second, watcher):
        client.wait_frame(lambda frame: frame.step == 1)
    second.do("reset")
    for client in (first, second, watcher):
        client.close()


def nonsense_is_answered(run):
    client = run.client()
    for text in (b"", b"{", b"[]", b"{\"do\":1}", b"nonsense", b"{\"do\":\"fly\",\"id\":\"x\"}", b"[" * 1000):
        client.send_raw(text)
        message = client.read()
        while message is None or "is" in message:
            message = client.read()
        check(message["ok"] is False and message["error"], f"{text[:20]} gets an answer in words")
    check(client.ask("ping")["ok"], "and the connection goes on")
    # A message in pieces is one message; one that is too long ends the connection.
    text = json.dumps({"do": "ping", "id": "pieces"}).encode()
    client.send_raw(text[:10], 1, False)
    client.send_raw(text[10:], 0, True)
    while (client.read() or {}).get("re") != "pieces":
        pass
    try:
        client.send_raw(b"{\"do\":\"ping\",\"x\":\"" + b"a" * 300000 + b"\"}")
    except Closed:
        pass
    check(is_ended(client), "300 kB are too much")


def resident(run):
    with open(f"/proc/{run.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def crowds_are_borne():
    run = Run(WORLD, "--mode", "fast", "--hash", "--steps", "20000")
    controller = run.client()
    deaf = run.client("look", acks=False)  # never reads again
    before = resident(run)
    half_open = [socket.create_connection(run.address) for _ in range(20)]
    crowd = []
    for _ in range(200):
        try:
            crowd.append(Client(run, token=run.links["look"], hello=False))
        except (Closed, ConnectionError, AssertionError):
            break  # turned away
    check(len(crowd) >= 32, f"many are let in ({len(crowd)})")
    for count in range(1, 101):  # each step is a moment and a push of state, which the deaf one does not take
        controller.do("step", n=10)
        controller.wait_step(10 * count)
    check(resident(run) - before < 80000, f"memory is bounded: {before} kB, then {resident(run)} kB")
    for connection in half_open + [client.socket for client in crowd]:
        connection.close()
    controller.do("play")
    check(is_ended(controller), "the run comes to its end")
    code, text = run.wait()
    check(code == 0, f"and ends well: {code}\n{text}")
    deaf.close()
    return hash_of(text)


if __name__ == "__main__":
    shown = Run(WORLD)
    page_is_served(shown)
    strangers_are_refused(shown)
    tokens_are_wanted(shown)
    roles_are_kept(shown)
    nonsense_is_answered(shown)
    code, text = shown.end()
    check(code in (0, 130), f"an interrupted view ends: {code} {text}")
    alone = os.popen(f"{os.environ['TALUS_PROGRAM']} run {WORLD} --steps 20000 --hash --quiet").read()
    check(crowds_are_borne() == hash_of(alone), "a crowd changes nothing of the result")
    print("viewer: strangers refused, roles kept, a crowd borne")
