# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fetches an address with a QUIC client that was not written here, and prints what came as a line of JSON.

    client.py curl ADDRESS                 libcurl with ngtcp2 and nghttp3, HTTP/3 (curl_cffi)
    client.py aioquic ADDRESS [QLOG]       aioquic, HTTP/3; with its own record in the folder QLOG
    client.py aioquic-hq ADDRESS [QLOG]    aioquic, hq-interop
"""

import asyncio
import hashlib
import json
import ssl
import sys
import time
from urllib.parse import urlsplit


class Heard:
    """What came so far."""

    def __init__(self):
        self.began = time.monotonic()
        self.digest = hashlib.sha256()
        self.bytes = 0

    def take(self, part):
        self.digest.update(part)
        self.bytes += len(part)

    def told(self):
        seconds = time.monotonic() - self.began
        return {"bytes": self.bytes, "sha256": self.digest.hexdigest(), "seconds": seconds}


def curl(address, _qlog):
    from curl_cffi import CurlHttpVersion, requests

    heard = Heard()
    answer = requests.get(
        address,
        http_version=CurlHttpVersion.V3ONLY,
        verify=False,
        timeout=900,
        content_callback=heard.take,
    )
    if answer.status_code != 200:
        raise SystemExit(f"the server answers {answer.status_code}")
    return heard.told()


async def through_aioquic(address, qlog, protocol):
    from aioquic.asyncio.client import connect
    from aioquic.asyncio.protocol import QuicConnectionProtocol
    from aioquic.h3.connection import H3Connection
    from aioquic.h3.events import DataReceived, HeadersReceived
    from aioquic.quic.configuration import QuicConfiguration
    from aioquic.quic.events import ConnectionTerminated, StreamDataReceived, StreamReset
    from aioquic.quic.logger import QuicFileLogger

    parts = urlsplit(address)
    heard = Heard()

    class Client(QuicConnectionProtocol):
        def ask(self):
            self.done = asyncio.get_running_loop().create_future()
            self.h3 = H3Connection(self._quic) if protocol == "h3" else None
            stream = self._quic.get_next_available_stream_id()
            if self.h3 is None:
                self._quic.send_stream_data(stream, f"GET {parts.path}\r\n".encode(), end_stream=True)
            else:
                fields = [(":method", "GET"), (":scheme", "https"), (":authority", parts.netloc), (":path", parts.path)]
                headers = [(name.encode(), value.encode()) for name, value in fields]
                self.h3.send_headers(stream, headers, end_stream=True)
            self.transmit()
            return self.done

        def over(self, why=None):
            if not self.done.done():
                self.done.set_result(why)

        def quic_event_received(self, event):
            if isinstance(event, StreamReset):
                return self.over("the server reset the stream")
            if isinstance(event, ConnectionTerminated):
                return self.over(f"the connection ended: {event.reason_phrase or event.error_code}")
            if not hasattr(self, "done"):
                return
            if self.h3 is None and isinstance(event, StreamDataReceived):
                heard.take(event.data)
                if event.end_stream:
                    self.over()
            for told in self.h3.handle_event(event) if self.h3 else ():
                if isinstance(told, HeadersReceived):
                    status = dict(told.headers).get(b":status")
                    if status != b"200":
                        self.over(f"the server answers {status}")
                if isinstance(told, DataReceived):
                    heard.take(told.data)
                if getattr(told, "stream_ended", False):
                    self.over()

    configuration = QuicConfiguration(
        is_client=True,
        alpn_protocols=["h3" if protocol == "h3" else "hq-interop"],
        verify_mode=ssl.CERT_NONE,
        # The default, a megabyte, is less than some controllers send ahead.
        max_data=1 << 24,
        max_stream_data=1 << 24,
        quic_logger=QuicFileLogger(qlog) if qlog else None,
    )
    async with connect(parts.hostname, parts.port, configuration=configuration, create_protocol=Client) as client:
        why = await asyncio.wait_for(client.ask(), 900)
    if why:
        raise SystemExit(why)
    return heard.told()


CLIENTS = {
    "curl": curl,
    "aioquic": lambda address, qlog: asyncio.run(through_aioquic(address, qlog, "h3")),
    "aioquic-hq": lambda address, qlog: asyncio.run(through_aioquic(address, qlog, "hq")),
}

if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in CLIENTS:
        raise SystemExit(__doc__)
    name, address, *more = sys.argv[1:]
    print(json.dumps(CLIENTS[name](address, more[0] if more else None)))
