import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { connect, createServer as createNetServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSender, type SenderOptions, type StoreRequest } from "../../../src/state/remote/store-http.ts";
import { type FaultyServer, startFaultyServer } from "../../support/faulty-server.ts";
import { portOf, stopper } from "../../support/listening.ts";
import { codeOf, wordsOf } from "./holders.ts";

const tls = join(import.meta.dirname, "../../database/tls");
const cert = readFileSync(join(tls, "cert.pem"), "utf8");
const key = readFileSync(join(tls, "key.pem"), "utf8");

function sender(options: SenderOptions = {}): ReturnType<typeof openSender>["send"] {
  const { send, close } = openSender(options);
  onTestFinished(close);
  return send;
}

const get = (url: string): StoreRequest => ({
  method: "GET",
  url: new URL(url),
  headers: { authorization: "Bearer secretword" },
});

async function start(): Promise<FaultyServer> {
  const server = await startFaultyServer(() => ({ status: 200, body: "ok" }));
  onTestFinished(() => server.close());
  return server;
}

async function startTls(): Promise<string> {
  const server: Server = createServer({ cert, key }, (_, response) => void response.end("ok"));
  onTestFinished(await stopper(server));
  return `https://127.0.0.1:${portOf(server)}/state`;
}

describe("requests to a state store", () => {
  it("trust the authority that is named, and no unknown one", async () => {
    const url = await startTls();
    expect(await sender({ ca: cert })(get(url))).toMatchObject({ status: 200, body: Buffer.from("ok") });
    const words = await wordsOf(sender()(get(url)));
    expect(words).toMatch(/state-unreachable/);
    expect(words).toMatch(/GRAPHFORM_CA_FILE/);
    expect(words).not.toContain("secretword");
  });

  it("follow no redirect, and repeat no query in what they say", async () => {
    const server = await start();
    server.misbehave = () => ({ status: 307, headers: { location: "https://other.example.com/" } });
    expect((await sender()(get(`${server.origin}/a?token=secretword`))).status).toBe(307);
    server.misbehave = () => "cut-before";
    const words = await wordsOf(sender()(get(`${server.origin}/a?token=secretword`)));
    expect(words).toContain(`${server.origin}/a ended the connection`);
    expect(words).not.toContain("secretword");
    expect(server.calls).toHaveLength(2);
  });

  it("are never sent twice", async () => {
    const server = await start();
    const send = sender();
    await send(get(server.origin));
    // The connection is kept, and ends as it is used again.
    server.misbehave = () => "cut-before";
    expect(await codeOf(send({ ...get(server.origin), method: "PUT", body: Buffer.from("1") }))).toBe(
      "state-unreachable",
    );
    expect(server.calls).toHaveLength(2);
  });

  it("end with their time, also where an answer has begun", async () => {
    const server = await start();
    server.misbehave = () => ({ status: 200, headers: { "content-length": "9" }, body: "1" });
    expect(await codeOf(sender({ timeout: 100 })(get(server.origin)))).toBe("state-unreachable");
    server.misbehave = () => "hang";
    const send = sender({ timeout: 100 });
    const ends = [1, 2, 3].map(() => codeOf(send(get(server.origin))));
    expect(await Promise.all(ends)).toEqual(["state-unreachable", "state-unreachable", "state-unreachable"]);
  });

  it("are not sent any more once they were given up", async () => {
    const seen: string[] = [];
    const server = createServer({ cert, key }, ({ url = "" }, response) => {
      seen.push(url);
      response.end("ok");
    });
    onTestFinished(await stopper(server));
    const opened = Promise.withResolvers<void>();
    const given = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    // The connection stands still until the request was given up.
    const slow = createNetServer((socket) => {
      const onward = connect(portOf(server), "127.0.0.1");
      for (const end of [socket, onward]) end.on("error", () => undefined).on("close", () => ended.resolve());
      opened.resolve();
      void given.promise.then(() => socket.pipe(onward).pipe(socket));
    });
    await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void slow.close());
    const { send, close } = openSender({ ca: cert, timeout: 100 });
    const late = codeOf(send(get(`https://127.0.0.1:${portOf(slow)}/late`)));
    await opened.promise;
    expect(await late).toBe("state-unreachable");
    given.resolve();
    await ended.promise;
    await close();
    expect(seen).toEqual([]);
  });

  it("tell a header that cannot be sent without repeating it", async () => {
    const server = await start();
    const request = { ...get(server.origin), headers: { authorization: "Bearer secret\nword" } };
    const words = await wordsOf(sender()(request));
    expect(words).toMatch(/cannot be reached/);
    expect(words).not.toContain("secret\nword");
    expect(server.calls).toHaveLength(0);
  });
});
