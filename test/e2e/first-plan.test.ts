import { createHmac } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";
import { FakeService } from "../support/fake-service.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

/** Passwords that a dictionary has, and some that are too short to be told from other words. */
const words = {
  named: "password123",
  read: "letmein1",
  mixed: "pre-password123",
  written: "dragon77",
  given: "abc",
  turn: "q7",
  waiting: "sunshine",
};

const manifest = (url: string): string => `
apiVersion: graphform/v1
name: first
service: { platformUrl: "${url}" }
secrets: { named: { env: NAMED } }
variables: { given: { type: string }, turns: { type: map }, region: { default: us-east-1 } }
defaults:
  instances: { tier: free, component: free, cloudProvider: aws, region: "\${var.region}" }
instances:
  named: { config: { name: n, graphdbUser: app, graphdbPassword: "\${secret.named}" } }
  read: { config: { name: r, graphdbUser: app, graphdbPassword: "\${env.READ}" } }
  mixed: { config: { name: m, graphdbUser: app, graphdbPassword: "pre-\${secret.named}" } }
  written: { config: { name: w, graphdbUser: app, graphdbPassword: ${words.written} } }
  given: { config: { name: g, graphdbUser: app, graphdbPassword: "\${var.given}" } }
  turn: { forEach: "\${var.turns}", config: { name: t, graphdbUser: app, graphdbPassword: "\${each.value}" } }
  waiting: { config: { name: o, graphdbUser: app, graphdbPassword: "${words.waiting}\${instances.named.id}" } }
outputs:
  word: { value: "w \${secret.named}", sensitive: true }
  endpoint: \${instances.named.endpoint}
`;

const variables = ["--var", `given=${words.given}`, "--var", `turns={"k":"${words.turn}"}`];

let service: FakeService;
let user: Workspace;

beforeEach(async () => {
  service = await FakeService.start();
  user = openWorkspace(manifest(service.url));
  Object.assign(user.env, service.env, { NAMED: words.named, READ: words.read });
});

afterEach(async () => {
  await user.close();
  await service.close();
});

/** Every text in a value, keys included. */
function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]) : [];
}

/** The words that somebody with a dictionary finds in a file: written out, or by a key and a fingerprint that are in it. */
function foundIn(file: string): readonly string[] {
  const text = user.read(file);
  const keys = text.match(/[0-9a-f]{64}/g) ?? [];
  const read: JsonObject = JSON.parse(text);
  const texts = textsIn(read);
  return Object.values(words).filter(
    (word) =>
      texts.some((each) =>
        word.length > 4 ? each.includes(word) : each === word || each.includes(`"${word}"`),
      ) ||
      keys.some((key) =>
        text.includes(createHmac("sha256", Buffer.from(key, "hex")).update(word).digest("hex")),
      ),
  );
}

describe("a plan that is made before there is a state", () => {
  it("verifies no secret, and is applied with those that are given then", async () => {
    const planned = await user.run("plan", "--out", "first.plan", ...variables);
    expect(planned).toMatchObject({ code: 0 });
    expect(foundIn("first.plan")).toEqual([]);
    expect(user.read("first.plan")).not.toContain("hmac-sha256");

    for (const shown of [
      await user.run("show", "first.plan"),
      await user.run("show", "--json", "first.plan"),
    ]) {
      expect(shown.code).toBe(0);
      expect(shown.out).toContain("(sensitive)");
      expect(Object.values(words).filter((word) => word.length > 4 && shown.out.includes(word))).toEqual([]);
    }

    const applied = await user.run("apply", "first.plan", ...variables);
    expect(applied).toMatchObject({ code: 0 });
    const sent = service.requests.flatMap(({ body }) => (isObject(body) ? [body["requestParams"]] : []));
    const passwords = sent.flatMap((params) =>
      isObject(params) ? [`${String(params["name"])} ${String(params["graphdbPassword"])}`] : [],
    );
    const named = user.state("first").resources["instances.named"]?.id;
    expect(passwords.toSorted()).toEqual([
      `g ${words.given}`,
      `m ${words.mixed}`,
      `n ${words.named}`,
      `o ${words.waiting}${named}`,
      `r ${words.read}`,
      `t ${words.turn}`,
      `w ${words.written}`,
    ]);

    const recorded = user.state("first").resources["instances.given"]?.recorded["config.graphdbPassword"];
    expect(recorded).toEqual({ $secret: expect.stringMatching(/^hmac-sha256:/) });
    expect(await user.run("plan", "--detailed-exitcode", ...variables)).toMatchObject({ code: 0 });
    const changed = [...variables, "--var", "given=abd"];
    expect(await user.run("plan", "--detailed-exitcode", ...changed)).toMatchObject({ code: 2 });
  });

  it("has a fingerprint that does not depend on the secrets", async () => {
    const fingerprintOf = async (): Promise<unknown> => {
      const { out } = await user.run("plan", "--json", ...variables);
      const read: JsonObject = JSON.parse(out);
      return isObject(read["x_graphform"]) ? read["x_graphform"]["fingerprint"] : undefined;
    };
    const before = await fingerprintOf();
    user.env["NAMED"] = "qwertyuiop";
    expect(before).toEqual(expect.stringMatching(/^[0-9a-f]{64}$/));
    expect(await fingerprintOf()).toBe(before);
  });

  it("uses the secret that is given to apply, since nothing in it tells whether it is another one", async () => {
    expect(await user.run("plan", "--out", "first.plan", ...variables)).toMatchObject({ code: 0 });
    user.env["NAMED"] = "qwertyuiop";
    expect(await user.run("apply", "first.plan", ...variables)).toMatchObject({ code: 0 });
    expect(JSON.stringify(service.requests)).toContain("qwertyuiop");
    expect(await user.run("plan", "--detailed-exitcode", ...variables)).toMatchObject({ code: 0 });
  });

  it("is stale once there is a state, and writes nothing", async () => {
    expect(await user.run("plan", "--out", "first.plan", ...variables)).toMatchObject({ code: 0 });
    expect(
      await user.run("apply", "--auto-approve", "--target", "instances.read", ...variables),
    ).toMatchObject({
      code: 0,
    });
    service.forget();
    expect(await user.run("apply", "first.plan", ...variables)).toMatchObject({
      code: 6,
      err: expect.stringContaining("before there was a state"),
    });
    expect(service.requests.filter(({ method }) => method !== "GET" && method !== "POST")).toEqual([]);
    expect(service.instances.size).toBe(1);
  });

  it("keeps no variable that a secret is made of: it has to be given again, and no other", async () => {
    expect(await user.run("plan", "--out", "first.plan", ...variables)).toMatchObject({ code: 0 });
    const without = await user.run("apply", "first.plan");
    expect(without).toMatchObject({ code: 1 });
    expect(without.err).toContain("variables that are part of one: given, turns");
    const other = await user.run("apply", "first.plan", ...variables, "--var", "region=eu-west-1");
    expect(other).toMatchObject({
      code: 6,
      err: expect.stringContaining("these variables have changed since this plan was made: region"),
    });
    expect(service.instances.size).toBe(0);
  });
});

describe("a plan over a state", () => {
  it("keeps the check that its secrets are the same, and no text of them", async () => {
    expect(await user.run("apply", "--auto-approve", ...variables)).toMatchObject({ code: 0 });
    user.env["NAMED"] = "qwertyuiop";
    const second = await user.run("plan", "--out", "second.plan", ...variables);
    expect(second, second.err).toMatchObject({ code: 0 });
    expect(user.read("second.plan")).toContain("hmac-sha256");
    expect(foundIn("second.plan")).toEqual([]);
    user.env["NAMED"] = "asdfghjkl";
    expect(await user.run("apply", "second.plan", ...variables)).toMatchObject({
      code: 6,
      err: expect.stringContaining("a secret has changed since this plan was made"),
    });
    user.env["NAMED"] = "qwertyuiop";
    expect(await user.run("apply", "second.plan", ...variables)).toMatchObject({ code: 0 });
    // The state has the key and what it verifies; no text of a secret, however short, stands there either.
    const state: JsonObject = JSON.parse(user.read(".graphform/first.state.json"));
    expect(textsIn(state).filter((text) => Object.values(words).includes(text))).toEqual([]);
  });
});
