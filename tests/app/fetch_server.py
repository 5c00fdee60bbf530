"""A small server on loopback for tests/app/fetch_test.sh: ranges, redirects, an interruption, endless and missing files."""
import hashlib
import http.server
import os
import socket
import sys

root, port_file, log_file = sys.argv[1:4]
interrupted = set()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def note(self, text):
        with open(log_file, "a") as log:
            log.write(f"{self.path} {text}\n")

    def redirect(self, to):
        self.send_response(302)
        self.send_header("Location", to)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        path = self.path.split("?")[0]
        self.note(self.headers.get("Range", "-"))
        if path.startswith("/redirect/"):
            return self.redirect("/" + path[len("/redirect/"):])
        if path == "/loop.png":
            return self.redirect("/loop.png")
        if path == "/away.png":
            return self.redirect("file:///etc/passwd")
        if path == "/endless.png":  # no length, no end
            self.send_response(200)
            self.send_header("Connection", "close")
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                return None
        name = os.path.join(root, path.lstrip("/"))
        if not os.path.isfile(name):
            self.send_error(404)
            return None
        data = open(name, "rb").read()
        tag = '"' + hashlib.md5(data).hexdigest() + '"'
        start, code = 0, 200
        wish = self.headers.get("Range")
        if wish and self.headers.get("If-Range") == tag:
            start, code = int(wish[len("bytes="):].rstrip("-")), 206
        self.send_response(code)
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(data) - start))
        if code == 206:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        if "interrupt" in path and path not in interrupted:
            interrupted.add(path)
            self.wfile.write(data[:len(data) // 2])
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)  # close() would wait for the files that hold it
            self.close_connection = True
            return None
        try:
            self.wfile.write(data[start:])
        except OSError:  # refused for its size
            pass
        return None


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(port_file + ".tmp", "w") as out:
    out.write(str(server.server_address[1]))
os.rename(port_file + ".tmp", port_file)
server.serve_forever()
