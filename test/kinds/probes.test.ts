import { describe, expect, it } from "vitest";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { instance } from "../../src/kinds/instance.ts";
import { roleAsker } from "../../src/kinds/running-database.ts";
import { user } from "../../src/kinds/user.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { notAsked, type ProbeAnswer, refusedAt, unanswered } from "../../src/model/probe.ts";
import type { Service } from "../../src/model/service.ts";
import { type Answer, bulk, startRespServer } from "../database/resp-server.ts";

const never = new AbortController().signal;
const profile = await loadProfile("default");
const service: Service = {
  profile,
  hide: (text) => text,
  offers: () => true,
  date: () => undefined,
  read: () => Promise.reject(new Error("the service is not asked")),
  write: () => Promise.reject(new Error("the service is not asked")),
};
const spec = { "config.graphdbUser": "app", "config.graphdbPassword": "p" };

const isReady = { is: "ready", detail: "" } as const;

async function probe(outputs: JsonObject, over: JsonObject = {}): Promise<ProbeAnswer | undefined> {
  const live = { id: "i", phase: isReady, spec: {}, outputs };
  return instance.reader(service).probe?.({ live, spec: { ...spec, ...over }, referents: {} }, never);
}

async function login(
  outputs: JsonObject | undefined,
  host: JsonObject = {},
): Promise<ProbeAnswer | undefined> {
  const live = { id: "i/u", phase: isReady, spec: {}, outputs: {} };
  const referents = outputs === undefined ? {} : { instance: { outputs, spec: host } };
  const request = { live, spec: { username: "reader", password: "p" }, referents };
  return user.reader(service).probe?.(request, never);
}

const at = async (answer: Answer): Promise<JsonObject> => ({
  host: "127.0.0.1",
  port: (await startRespServer(answer)).port,
});
const allow: Answer = ([name]) =>
  name === "AUTH"
    ? "+OK\r\n"
    : name === "INFO"
      ? bulk("role:slave\r\nconnected_slaves:0\r\nmaxmemory:5\r\n")
      : "*0\r\n";
const refuse =
  (text: string): Answer =>
  ([name]) =>
    name === "AUTH" ? `-${text}\r\n` : "+OK\r\n";
const wrong = "WRONGPASS invalid username-password pair or user is disabled.";
const free = async (): Promise<JsonObject> => {
  const { createServer } = await import("node:net");
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return { host: "127.0.0.1", port: typeof address === "object" ? (address?.port ?? 0) : 0 };
};

describe("the database of an instance", () => {
  it("shows what it says, and no replicas where it is one", async () => {
    expect(await probe(await at(allow))).toEqual({
      is: "answered",
      values: {
        "config.graphdbPassword": true,
        "config.enableTLS": false,
        "config.maxMemory": "5",
        "config.memoryRequestsAndLimits": "5",
      },
    });
  });

  it("may refuse to say", async () => {
    const answer = await probe(await at(([name]) => (name === "AUTH" ? "+OK\r\n" : "-NOPERM no\r\n")));
    expect(answer).toMatchObject({
      is: "answered",
      denied: "its user may not run GRAPH.CONFIG, INFO, MODULE",
    });
  });

  const isTls = { "config.enableTLS": true };
  const isPrivate = { networkType: "INTERNAL" };
  const secure = async (): Promise<JsonObject> => ({
    host: "localhost",
    port: (await startRespServer(allow, true)).port,
  });
  const cutting = async (): Promise<JsonObject> => at(() => "HTTP/1.1 400 Bad Request\r\n\r\n");

  it.each<[why: string, outputs: () => Promise<JsonObject>, over: JsonObject, answer: ProbeAnswer]>([
    ["has no endpoint", async () => ({}), {}, notAsked("no-endpoint")],
    [
      "has no declared password",
      () => at(allow),
      { "config.graphdbPassword": null },
      notAsked("no-password"),
    ],
    ["refuses connections", free, {}, unanswered("refused")],
    ["refuses connections in a private network", free, isPrivate, unanswered("private")],
    [
      "has a name that does not resolve",
      async () => ({ host: "nobody.invalid", port: 1 }),
      {},
      unanswered("unresolved"),
    ],
    [
      "has a name that does not resolve in a private network",
      async () => ({ host: "nobody.invalid", port: 1 }),
      { network: "core" },
      unanswered("private"),
    ],
    ["says nothing", () => at(() => undefined), {}, unanswered("silent")],
    ["has a certificate of an authority that nobody knows", secure, isTls, unanswered("not-trusted")],
    ["is spoken to in clear", secure, {}, unanswered("cut")],
    ["answers as something else does", cutting, {}, unanswered("cut")],
    ["calls the password wrong", () => at(refuse(wrong)), {}, refusedAt("config.graphdbPassword")],
    [
      "calls the password wrong of a user whose name nobody declared",
      () => at(refuse(wrong)),
      { "config.graphdbUser": null },
      unanswered("login-refused"),
    ],
    [
      "refuses the login for another reason, in a private network too",
      () => at(refuse("ERR LDAP authentication failed")),
      isPrivate,
      unanswered("login-refused"),
    ],
    ["is still loading", () => at(refuse("LOADING the dataset")), {}, unanswered("not-ready")],
    [
      "does not speak the declared TLS",
      () => at(() => "-ERR Protocol error\r\n"),
      isTls,
      { is: "answered", values: { "config.enableTLS": false } },
    ],
  ])("%s", async (_, outputs, over, answer) => {
    const where = await outputs();
    const given = await probe(where, over);
    expect(given).toEqual(answer);
    if (typeof where["port"] === "number" && where["port"] > 1)
      expect(JSON.stringify(given)).not.toContain(String(where["port"]));
  });

  it.each([true, "true", "True", 1, "on"])(
    "made with TLS, which the service shows as %j, hears no login in clear",
    async (tls) => {
      const server = await startRespServer(allow);
      const where = { host: "127.0.0.1", port: server.port };
      const made = { "config.enableTLS": tls };
      const live = { id: "i", phase: isReady, spec: {}, outputs: where };
      await probe(where, made);
      await login(where, made);
      await instance.driver(service).usable?.(live, { ...spec, ...made }, never);
      expect(server.commands.filter(([name]) => name === "AUTH")).toEqual([]);
    },
  );

  it.each([
    [{ "config.enableTLS": true }, 0],
    [{}, 1],
  ])(
    "is asked for its role as it was made, by %j, if the service does not repeat its TLS",
    async (applied, clear) => {
      const { port, commands } = await startRespServer(allow);
      const ask = roleAsker({ graphdbUser: "app", graphdbPassword: "p" }, applied, service, never);
      await ask({ host: "127.0.0.1", port });
      expect(commands.filter(([name]) => name === "AUTH")).toHaveLength(clear);
    },
  );

  it("has a reason of its own for each cause, and a way out", () => {
    const causes = [unanswered("refused"), unanswered("silent"), unanswered("private")];
    const others = [unanswered("unresolved"), unanswered("not-trusted"), unanswered("login-refused")];
    const found = [...causes, ...others, notAsked("no-password")];
    expect(new Set(found.map(({ reason }) => reason)).size).toBe(7);
    expect(new Set(found.map(({ wayOut }) => wayOut)).size).toBe(7);
  });
});

describe("the login of a user", () => {
  it("is proved by AUTH alone: no command follows that could be refused and logged", async () => {
    const server = await startRespServer(allow);
    expect(await login({ host: "127.0.0.1", port: server.port })).toEqual({
      is: "answered",
      values: { password: true },
    });
    expect(server.commands.map(([name]) => name)).toEqual(["AUTH"]);
  });

  it("is refused for certain, or not known", async () => {
    expect(await login(await at(refuse(wrong)))).toMatchObject({ is: "refused", path: "password" });
    expect(await login(undefined)).toEqual(notAsked("no-endpoint"));
    expect(await login(await free())).toEqual(unanswered("refused"));
  });
});
