import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  openConnections,
  type Transport,
  type TransportOptions,
  type WireRequest,
} from "../../src/hosting/wire/transport.ts";
import { listen } from "./listen.ts";
import { always, failure } from "./service-of.ts";

const tls = join(import.meta.dirname, "../database/tls");
const cert = readFileSync(join(tls, "cert.pem"), "utf8");
const key = readFileSync(join(tls, "key.pem"), "utf8");

function send(options: TransportOptions = {}): Transport {
  const connections = openConnections(options);
  onTestFinished(() => connections.close());
  return connections.send;
}

function get(origin: string, more: Partial<WireRequest> = {}): WireRequest {
  return {
    operation: "thing.read",
    method: "GET",
    origin,
    path: "/x",
    headers: {},
    isWrite: false,
    ...more,
  };
}

function post(origin: string): WireRequest {
  return get(origin, { operation: "thing.make", method: "POST", body: "{}", isWrite: true });
}

/** A server that speaks TCP as it likes, once for each connection. */
async function rawServer(talk: (socket: Socket) => void): Promise<string> {
  const server = createServer(talk);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket.on("error", () => undefined)));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

describe("the transport", () => {
  it("keeps its connections", async () => {
    const ports = new Set<string>();
    const url = await rawServer((socket) => {
      ports.add(String(socket.remotePort));
      socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
    });
    const transport = send();
    for (let round = 0; round < 20; round += 1) expect((await transport(get(url), always)).body).toBe("ok");
    // The pool takes a connection back a turn after its answer, so that two of them take turns.
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  it.each([
    ["gzip", gzipSync],
    ["GZIP", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("unpacks an answer that was packed unasked: %s", async (encoding, pack) => {
    const headers = { "content-encoding": encoding };
    const server = await listen(() => ({ headers, body: pack('{"name":"ü"}') }));
    expect((await send()(get(server.url), always)).body).toBe('{"name":"ü"}');
    const bomb = await listen(() => ({ headers, body: pack("x".repeat(100_000)) }));
    expect(await failure(send({ largest: 50_000 })(get(bomb.url), always))).toMatchObject({
      failure: "shape",
    });
  });

  it.each(["gzip", "identity", "unheard-of"])(
    "hands on an answer that is not packed as %s",
    async (encoding) => {
      const server = await listen(() => ({ headers: { "content-encoding": encoding }, body: "{}" }));
      expect((await send()(get(server.url), always)).body).toBe("{}");
    },
  );

  it("hands on status, headers and text, and sends bodies with their length in bytes", async () => {
    const server = await listen(({ body, headers }) => ({
      status: 418,
      headers: { "set-cookie": ["a=1", "b=2"], "x-length": headers["content-length"] ?? "" },
      body: `ü${body}`,
    }));
    const response = await send()({ ...post(server.url), body: '{"ü":1}' }, always);
    expect(response).toMatchObject({
      status: 418,
      body: 'ü{"ü":1}',
      headers: { "set-cookie": ["a=1", "b=2"], "x-length": "8" },
    });
  });

  it("reads 16 MB and no more, and stops reading there", async () => {
    let written = 0;
    const url = await rawServer((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
        const more = (): void => {
          while (!socket.destroyed && written < 500_000_000) {
            written += chunk.length;
            if (!socket.write(chunk)) return void socket.once("drain", more);
          }
        };
        more();
      });
    });
    const error = await failure(send()(post(url), always));
    expect(error).toMatchObject({
      failure: "shape",
      mayHaveWorked: true,
      message: "thing.make: the answer is larger than 16 MB",
    });
    expect(written).toBeLessThan(100_000_000);
  });

  it("gives up what never falls silent and never ends, and tells that asking again would take as long", async () => {
    const url = await rawServer((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n");
        const drip = setInterval(() => void socket.write("x"), 20);
        socket.once("close", () => clearInterval(drip));
      });
    });
    expect(await failure(send({ longest: 200 })(get(url), always))).toMatchObject({
      failure: "shape",
      status: 200,
      message: "thing.read: the answer does not come to an end",
    });
  });

  it("takes exactly as much as is allowed", async () => {
    const server = await listen(() => ({ body: "x".repeat(1000) }));
    expect((await send({ largest: 1000 })(get(server.url), always)).body).toHaveLength(1000);
    expect(await failure(send({ largest: 999 })(get(server.url), always))).toMatchObject({
      failure: "shape",
    });
  });
});

describe("what the transport knows of a failure", () => {
  it.each<[string, (socket: Socket) => void]>([
    ["a reset instead of an answer", (socket) => socket.once("data", () => socket.resetAndDestroy())],
    ["an end instead of an answer", (socket) => socket.once("data", () => socket.end())],
    ["half a head", (socket) => socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nconte"))],
    [
      "half a body",
      (socket) => socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok")),
    ],
    ["no HTTP", (socket) => socket.once("data", () => socket.end("SSH-2.0-x\r\n"))],
    ["silence", () => undefined],
    [
      "silence in the middle",
      (socket) => socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok")),
    ],
  ])("%s: it may have been sent", async (_, talk) => {
    const url = await rawServer(talk);
    const transport = send({ patience: 100 });
    expect(await failure(transport(post(url), always))).toMatchObject({
      failure: "lost",
      mayHaveWorked: true,
      operation: "thing.make",
    });
    expect(await failure(transport(get(url), always))).toMatchObject({
      failure: "lost",
      mayHaveWorked: false,
    });
  });

  it.each([
    ["a port where nobody listens", "http://127.0.0.1:1", /ECONNREFUSED/],
    ["a name that does not exist", "https://nowhere.invalid", /ENOTFOUND|EAI_AGAIN/],
  ])("%s: it was not sent", async (_, origin, code) => {
    const error = await failure(send()(post(origin), always));
    expect(error).toMatchObject({
      failure: "unavailable",
      mayHaveWorked: false,
      message: expect.stringMatching(code),
    });
  });

  it("a connection that the server closed while it was idle: it may have been sent", async () => {
    let requests = 0;
    const url = await rawServer((socket) =>
      socket.on("data", () => {
        requests += 1;
        if (requests === 1) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        else socket.resetAndDestroy();
      }),
    );
    const transport = send();
    await transport(get(url), always);
    expect(await failure(transport(post(url), always))).toMatchObject({
      failure: "lost",
      mayHaveWorked: true,
    });
  });

  it.each([
    ["before", true, false],
    ["while it waits", false, true],
  ])("an abort %s", async (_, already, mayHaveWorked) => {
    const stop = new AbortController();
    const url = await rawServer((socket) => socket.once("data", () => stop.abort()));
    if (already) stop.abort();
    expect(await failure(send()(post(url), stop.signal))).toMatchObject({
      failure: "aborted",
      mayHaveWorked,
    });
  });
});

describe("TLS", () => {
  it("trusts an authority of the user's own", async () => {
    const server = await listen(() => ({ body: "ok" }), { cert, key });
    expect(await send({ ca: cert })(get(server.url), always)).toMatchObject({ status: 200, body: "ok" });
  });

  it("trusts nobody else: nothing was sent, and the way out is named", async () => {
    const server = await listen(() => ({ body: "ok" }), { cert, key });
    const error = await failure(send()(post(server.url), always));
    expect(error).toMatchObject({
      failure: "unavailable",
      mayHaveWorked: false,
      hint: expect.stringContaining("GRAPHFORM_CA_FILE"),
    });
    expect(server.seen).toEqual([]);
  });

  it("does not take a server without TLS", async () => {
    const server = await listen(() => ({ body: "ok" }));
    const error = await failure(send()(post(server.url.replace("http:", "https:")), always));
    expect(error).toMatchObject({ failure: "unavailable", mayHaveWorked: false });
    expect(server.seen).toEqual([]);
  });
});
