import { createHmac } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { notifyManifest, stageOf } from "../../../src/controller/notify/notify.ts";
import {
  approveRun,
  cancelRun,
  discardRun,
  removeManifest,
  requestRun,
} from "../../../src/controller/runs/decide.ts";
import { openApi, type TestApi } from "./open-api.ts";

const secret = Buffer.from("a key of the receiver of tests").toString("base64");
const day = 86_400_000;

interface Heard {
  readonly path: string;
  readonly type: string;
  readonly id: string;
  readonly data: { readonly [key: string]: unknown };
}

describe("webhooks that go out", () => {
  let api: TestApi;
  let server: Server;
  let url = "";
  let heard: Heard[] = [];
  let broken = "";
  let now = Date.now();
  beforeAll(async () => {
    process.env["RECEIVER_SECRET_OF_TESTS"] = `whsec_${secret}`;
    api = await openApi();
    server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += String(chunk);
      });
      request.on("end", () => {
        const header = (name: string): string => String(request.headers[name]);
        const signed = `${header("webhook-id")}.${header("webhook-timestamp")}.${body}`;
        const expected = createHmac("sha256", Buffer.from(secret, "base64")).update(signed).digest("base64");
        if (header("webhook-signature") !== `v1,${expected}`) return response.writeHead(401).end();
        if (request.url === broken) return response.writeHead(302, { location: "/elsewhere" }).end();
        const { type, data } = JSON.parse(body);
        heard.push({ path: request.url ?? "", type, id: header("webhook-id"), data });
        return response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = { env: "RECEIVER_SECRET_OF_TESTS" };
    api.config.webhooks = {
      all: { url: `${url}/all`, secret: env },
      bank: { url: `${url}/bank`, secret: env, tenants: ["bank"] },
    };
  }, 120_000);
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await api?.close();
  });

  const tell = async (manifest: string): Promise<readonly string[]> => {
    heard = [];
    const config = { current: () => api.config, reload: async () => undefined };
    await notifyManifest({ database: api.database, config }, manifest, now);
    return heard.map(({ path, type }) => `${path} ${type}`);
  };
  const drift = (manifest: string, at: Date | null): Promise<unknown> =>
    api.database.updateTable("manifests").set({ drifted_at: at }).where("id", "=", manifest).execute();

  it("tell about drift once when it begins, once a day while it lasts, and once when it is over", async () => {
    const { manifest, run } = await api.add("shop", "drifting");
    await api.put(run, { status: "planned_and_finished", ended_at: new Date() });
    expect(await tell(manifest)).toEqual([]);
    await drift(manifest, new Date(now));
    expect(await tell(manifest)).toEqual(["/all drift.first"]);
    expect(heard[0]?.data).toMatchObject({ tenant: "shop", manifest: "drifting" });
    now += day - 1000;
    expect(await tell(manifest)).toEqual([]);
    now += 2000;
    expect(await tell(manifest)).toEqual(["/all drift.still"]);
    expect(await tell(manifest)).toEqual([]);
    await drift(manifest, null);
    expect(await tell(manifest)).toEqual(["/all drift.resolved"]);
    expect(await tell(manifest)).toEqual([]);
  });

  it("tell about an approval that waits, again for another plan, and not while the next check is at work", async () => {
    const { manifest, run } = await api.add("shop", "waiting");
    await api.put(run, { status: "needs_approval", fingerprint: "one" });
    expect(await tell(manifest)).toEqual(["/all approval.first"]);
    expect(heard[0]?.data).toMatchObject({ run, fingerprint: "one" });
    await api.put(run, { status: "planning" });
    expect(await tell(manifest)).toEqual([]);
    await api.put(run, { status: "needs_approval", fingerprint: "one" });
    expect(await tell(manifest)).toEqual([]);
    await api.put(run, { fingerprint: "two" });
    expect(await tell(manifest)).toEqual(["/all approval.first"]);
    await api.put(run, { status: "errored", ended_at: new Date(), reasons: ["it broke"] });
    expect(await tell(manifest)).toEqual(["/all approval.resolved", "/all failure.first"]);
    expect(heard[1]?.data).toMatchObject({ reasons: ["it broke"] });
    await api.put(run, { status: "applied" });
    expect(await tell(manifest)).toEqual(["/all failure.resolved"]);
  });

  it.each(["approve", "discard", "cancel", "remove"])(
    "tell that an approval is over as soon as a person has decided: %s",
    async (word) => {
      const { manifest, run } = await api.add("shop", `decided-${word}`);
      await api.put(run, { status: "needs_approval", fingerprint: "one" });
      expect(await tell(manifest)).toEqual(["/all approval.first"]);
      const about = { id: run, actor: "ada", fingerprint: "one" };
      if (word === "approve") expect(await approveRun(api, about)).toBe("approved");
      if (word === "discard") expect(await discardRun(api, about)).toBe("discarded");
      if (word === "cancel") expect(await cancelRun(api, about)).toBe("canceled");
      if (word === "remove") expect(await removeManifest(api, { ...about, id: manifest })).toBe("removed");
      const jobs = "SELECT data FROM graphform_queue.job WHERE name = 'notify' AND singleton_key = $1";
      expect(await api.postgres.sql(jobs, [manifest])).toEqual([{ data: { manifest } }]);
      expect(await tell(manifest)).toEqual(["/all approval.resolved"]);
    },
  );

  it("are sent at every look for jobs for many manifests, and for all but the one that fails", async () => {
    const ids = Array.from({ length: 40 }, (_, at) => `many-${at}`);
    await api.database.transaction().execute(async (tx) => {
      for (const id of ids) await api.queue.send(tx, "notify", id, { manifest: id });
    });
    const looks: string[][] = [[]];
    await api.queue.work("notify", 1, async ({ data: { manifest } }) => {
      if (looks.at(-1)?.length === 20) looks.push([]);
      looks.at(-1)?.push(manifest);
      if (manifest === "many-3") throw new Error("the receiver is away");
    });
    await expect.poll(() => new Set(looks.flat()).size, { timeout: 20_000 }).toBeGreaterThanOrEqual(40);
    expect(looks.length).toBeLessThanOrEqual(4);
  });

  it("tell nothing about a plan that went stale while its next run is open", async () => {
    const { manifest, run } = await api.add("shop", "stale");
    await api.put(run, { status: "stale", ended_at: new Date(now) });
    const next = await requestRun(api, { id: manifest, actor: "controller" });
    expect(await tell(manifest)).toEqual([]);
    await api.put("run" in next ? next.run : "", { status: "needs_approval", fingerprint: "new" });
    expect(await tell(manifest)).toEqual(["/all approval.first"]);
  });

  it("go to the receivers of the tenant; one that fails is told again with the same id, and the others are not", async () => {
    const { manifest, run } = await api.add("bank", "vault");
    await api.put(run, { status: "planned_and_finished", ended_at: new Date() });
    await drift(manifest, new Date(now));
    broken = "/bank";
    await expect(tell(manifest)).rejects.toMatchObject({ code: "webhook-refused" });
    expect(heard.map(({ path }) => path)).toEqual(["/all"]);
    await expect(tell(manifest)).rejects.toMatchObject({ code: "webhook-refused" });
    expect(heard).toEqual([]);
    broken = "";
    expect(await tell(manifest)).toEqual(["/bank drift.first"]);
  });

  it("have their stage from what was said before", () => {
    const said = (about: string, ago: number) => ({ about, said_at: new Date(now - ago) });
    expect(stageOf(undefined, undefined, now)).toBeUndefined();
    expect(stageOf({ about: "a" }, undefined, now)).toBe("first");
    expect(stageOf({ about: "a" }, said("a", 5), now)).toBeUndefined();
    expect(stageOf({ about: "a" }, said("a", day), now)).toBe("still");
    expect(stageOf({ about: "a" }, said("b", 5), now)).toBe("first");
    expect(stageOf(undefined, said("a", 5), now)).toBe("resolved");
  });
});
