import { describe, expect, it } from "vitest";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { openConnections, type Transport } from "../../src/hosting/wire/transport.ts";
import { defined } from "../../src/model/json.ts";
import type { Limits, Service } from "../../src/model/service.ts";
import { listen, type Reply } from "./listen.ts";
import { always, behindSignIn, failure, place, serviceOf } from "./service-of.ts";

const createCall = { operation: "instance.create", params: place, body: { region: "us-east-1" } };
const notSent = { failure: "aborted", wasSent: false, mayHaveWorked: false };

/** A service whose creates are answered when the test says so. */
async function held(limits: Limits, parallelism?: number): Promise<Held> {
  const sent: ((error?: Error) => void)[] = [];
  const waiting: (() => void)[] = [];
  const transport: Transport = async ({ operation }) => {
    if (operation.startsWith("session."))
      return { status: 200, headers: { "set-cookie": "svc_token=t; Max-Age=3600" }, body: "{}" };
    await new Promise<void>((resolve, reject) => {
      sent.push((error) => (error === undefined ? resolve() : reject(error)));
      for (const wake of waiting.splice(0)) wake();
    });
    return { status: 202, headers: {}, body: '{"id":"instance-1"}' };
  };
  const profile = await loadProfile("default");
  const service = await serviceOf(
    { url: "http://127.0.0.1:1" },
    { transport, profile: { ...profile, limits }, ...defined({ parallelism }) },
  );
  return {
    service,
    sent,
    async until(count) {
      while (sent.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      // Whoever else is let through is sent in the same turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

interface Held {
  readonly service: Service;
  /** Ends each request that was sent, with its answer or an error. */
  readonly sent: readonly ((error?: Error) => void)[];
  /** Waits until so many were sent. */
  until(count: number): Promise<void>;
}

describe("the limits of the profile", () => {
  it.each<[Limits, number | undefined, number]>([
    [{ inFlight: 4 }, undefined, 4],
    [{ inFlight: 4 }, 64, 4],
    [{ inFlight: 64 }, 2, 2],
    [{ inFlight: 40 }, undefined, 40],
    [{}, 2, 2],
    [{}, 64, 4],
    [{}, undefined, 4],
  ])(
    "%o with parallelism %s: %i writes in flight while no read was answered",
    async (limits, parallelism, most) => {
      const { service, sent, until } = await held(limits, parallelism);
      const all = Array.from({ length: 70 }, () => service.write(createCall, always));
      await until(most);
      expect(sent).toHaveLength(most);
      for (let ended = 0; ended < 70; ended += 1) {
        await until(ended + 1);
        sent[ended]?.();
      }
      await Promise.all(all);
    },
  );
});

describe("a run that is interrupted", () => {
  it("sends no write that waits for its turn, and lets the others finish", async () => {
    const { service, sent, until } = await held({ inFlight: 2 });
    const stop = new AbortController();
    const all = Array.from({ length: 10 }, () => service.write(createCall, always, stop.signal));
    await until(2);
    const waited = all.slice(2).map(failure);
    stop.abort(new Error("interrupted"));
    for (const error of await Promise.all(waited)) expect(error).toMatchObject(notSent);
    for (const end of sent) end();
    expect(await Promise.all(all.slice(0, 2))).toMatchObject([
      { values: { id: "instance-1" } },
      { values: { id: "instance-1" } },
    ]);
    expect(sent).toHaveLength(2);
    expect(await failure(service.write(createCall, always, stop.signal))).toMatchObject(notSent);
    expect(sent).toHaveLength(2);
  });

  it("sends no write where the look just before it stops the run", async () => {
    let writes = 0;
    const reply = (): Reply => {
      writes += 1;
      return { status: 202, body: '{"id":"instance-1"}' };
    };
    const service = await serviceOf(await listen(behindSignIn(reply)));
    const stop = new AbortController();
    const look = async (): Promise<void> =>
      stop.abort(new Error("the lock was lost while this process was stopped"));
    expect(await failure(service.write(createCall, always, stop.signal, look))).toMatchObject(notSent);
    expect(writes).toBe(0);
  });

  it.each([true, false])(
    "holds a write back that was paused as it left, and sends it only after a new proof: %s",
    async (isOurs) => {
      const told: string[] = [];
      const reply = (): Reply => {
        told.push("sent");
        return { status: 202, body: '{"id":"instance-1"}' };
      };
      const service = await serviceOf(await listen(behindSignIn(reply)));
      const stop = new AbortController();
      // The process stands still for longer than a proof holds, once, between the first look and the connection.
      const look = (): Promise<void> | undefined => {
        if (told.push("look") !== 2) return undefined;
        if (!isOurs) stop.abort(new Error("the lock was lost while this process was stopped"));
        return Promise.resolve().then(() => void told.push("proof"));
      };
      const written = service.write(createCall, always, stop.signal, look);
      if (isOurs) expect(await written).toMatchObject({ values: { id: "instance-1" } });
      else expect(await failure(written)).toMatchObject(notSent);
      expect(told).toEqual(["look", "look", "proof", ...(isOurs ? ["look", "look", "sent"] : [])]);
    },
  );

  it("does not take a mistake of ours after sending for a write that was not sent", async () => {
    const { service, sent, until } = await held({});
    const stop = new AbortController();
    const written = failure(service.write(createCall, always, stop.signal));
    await until(1);
    stop.abort(new Error("interrupted"));
    sent[0]?.(new TypeError("a mistake of ours"));
    expect(await written).toBeInstanceOf(TypeError);
  });

  it("does not write a request whose connection is not open yet", async () => {
    const server = await listen(() => ({}));
    const connections = openConnections();
    const stop = new AbortController();
    const post = { operation: "thing.make", method: "POST" as const, origin: server.url, path: "/x" };
    const request = { ...post, headers: {}, body: "{}", isWrite: true };
    const sent = failure(connections.send(request, always, () => !stop.signal.aborted));
    stop.abort(new Error("interrupted"));
    expect(await sent).toMatchObject(notSent);
    expect((await connections.send({ ...request, path: "/y" }, always)).status).toBe(200);
    expect(server.seen.map(({ url }) => url)).toEqual(["/y"]);
    connections.close();
  });
});
