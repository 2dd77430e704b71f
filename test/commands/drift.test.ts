import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { driftSchema } from "../../scripts/report-schemas.ts";
import { isObject, type JsonObject } from "../../src/model/json.ts";
import { pro } from "../platform/harness.ts";
import { quickProfile } from "../support/quick-profile.ts";
import { type Bench, type Ran, startBench } from "./harness.ts";

const manifest = `apiVersion: graphform/v1
name: watched
instances:
  orders:
    tier: pro
    component: standalone
    cloudProvider: aws
    region: us-east-1
    lifecycle: { protect: false, ignoreChanges: [config.description] }
    config:
      name: orders
      description: first
      nodeInstanceType: m7g.large
      graphdbUser: app
      graphdbPassword: "\${env.PW}"
  cache:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { graphdbUser: app, graphdbPassword: "\${env.PW}" }
users:
  reader: { instance: orders, username: reader, password: "\${env.PW}", acl: "~* +PING" }
outputs:
  orders: \${instances.orders.endpoint}
`;
const free = pro.replace("pro/standalone", "free/free");
const isReport = new Ajv({ allowUnionTypes: true }).compile(driftSchema);

describe("drift", () => {
  let bench: Bench;
  let id = "";
  let profile = "";
  const gf = (...args: readonly string[]): Promise<Ran> => bench.gf(...args, "--profile", profile);

  beforeAll(async () => {
    bench = await startBench(manifest, { echo: true });
    profile = await bench.write("quick.yaml", quickProfile);
    const applied = await gf("apply", "--auto-approve");
    expect(applied.code, applied.err).toBe(0);
    id = idOf(await bench.state(), "instances.orders");
  });
  afterAll(() => bench.close());

  /** What somebody changes outside. */
  async function update(requestParams: JsonObject): Promise<void> {
    const { status } = await bench.test.call("PUT", `${pro}/${id}`, { requestParams });
    expect(status).toBe(202);
    await bench.test.until(`${pro}/${id}`, "RUNNING");
  }

  async function acl(rules: string): Promise<void> {
    const path = `/v1/customer-ldap/instances/${id}/users/reader?subscriptionId=sub-test`;
    const authorization = `Bearer ${bench.test.token()}`;
    const body = { password: "a-password-of-tests", acl: rules };
    expect((await bench.test.bare("PUT", path, body, { authorization })).status).toBe(200);
  }

  async function report(
    ...options: readonly string[]
  ): Promise<{ readonly code: number; readonly found: readonly string[]; readonly json: JsonObject }> {
    const { code, out, err } = await gf("drift", "--json", ...options);
    expect(out, err).not.toBe("");
    const json: JsonObject = JSON.parse(out);
    expect(isReport(json) ? [] : isReport.errors).toEqual([]);
    expect(out).not.toContain("a-password-of-tests");
    return { code, json, found: found(json) };
  }

  it("is none after an apply, and says how much was seen of all that is known", async () => {
    const { code, out } = await gf("drift", "--no-probe");
    expect([code, out]).toEqual([0, expect.stringMatching(/Checked +3 declared, 3 checked, 0 unmanaged/)]);
    expect(out).toMatch(
      /No drift found\. \d+ of \d+ values were seen; \d+ are only remembered from the last apply\./,
    );
    const whole = { complete: true, drifted: false, errored: false };
    expect(await report("--no-probe")).toMatchObject({ code: 0, found: [], json: whole });
  });

  it("is no whole look where the databases do not answer", async () => {
    const { out } = await gf("drift");
    expect(out).toContain("Drift of watched (incomplete)");
    expect(out).toContain("no answer from instances.cache");
    expect(out).toContain("No drift found in what was checked.");
    expect(await report()).toMatchObject({ code: 0, found: [], json: { complete: false, drifted: false } });
  });

  it("writes nothing: neither the service nor the state", async () => {
    const before = await bench.state();
    await gf("drift", "--unmanaged");
    expect(await bench.state()).toEqual(before);
  });

  const meddlings: readonly (readonly [
    reason: string,
    meddle: () => Promise<unknown>,
    found: readonly string[],
    text: RegExp,
  ])[] = [
    [
      "a rename",
      () => update({ name: "renamed" }),
      ["instances.orders renamed config.name orders>renamed echoed line 11"],
      /! config\.name +"orders" → "renamed" \(echoed back\) +# line 11/,
    ],
    [
      "a stop",
      async () => {
        await bench.test.call("POST", `${pro}/${id}/stop`);
        await bench.test.until(`${pro}/${id}`, "STOPPED");
      },
      ["instances.orders stopped power running>stopped described line 4"],
      /Stopped or started outside \(1\)/,
    ],
    [
      "altered access rules",
      () => acl("~* +GRAPH.QUERY"),
      ["users.reader changed acl ~* +PING>~* +GRAPH.QUERY described line 23"],
      /last seen right \d{4}-\d\d-\d\d \d\d:\d\d UTC/,
    ],
  ];
  it.each(meddlings)(
    "names %s with its source and its line, and apply puts it back",
    async (_, meddle, found, text) => {
      await meddle();
      expect(await report()).toMatchObject({ code: 2, found, json: { drifted: true } });
      const shown = await gf("drift");
      expect([shown.code, shown.out]).toEqual([2, expect.stringMatching(text)]);
      expect(shown.out).toContain("graphform drift --adopt ");
      const applied = await gf("apply", "--auto-approve");
      expect(applied.code, applied.err).toBe(0);
      expect(await report()).toMatchObject({ code: 0, found: [] });
    },
  );

  it("is none where it does not matter, and that is counted", async () => {
    await update({ description: "somebody's" });
    const { code, json } = await report();
    expect([code, json["drifted"], json["summary"]]).toEqual([
      0,
      false,
      expect.objectContaining({ cosmetic: 1 }),
    ]);
    const quiet = await gf("drift");
    expect(quiet.out).toContain("1 difference that does not matter (--verbose)");
    expect(quiet.out).not.toContain("somebody's");
    const { out } = await gf("drift", "--verbose");
    expect(out).toMatch(
      /[=] config\.description +"first" → "somebody's" \(echoed back\) +# line 12, left alone: ignoreChanges names it/,
    );
  });

  it("is none where the manifest alone has changed, and that is shown apart", async () => {
    await bench.write("graphform.yaml", manifest.replace("name: orders\n", "name: planned\n"));
    const { code, out } = await gf("drift");
    expect([code, out]).toEqual([0, expect.stringContaining("Not applied yet (1)")]);
    expect(out).toMatch(/~ config\.name +"orders" \(echoed back\) → "planned"/);
    await bench.write("graphform.yaml", manifest);
  });

  it("counts what nobody declares only where it is asked for", async () => {
    const other = await bench.test.create(free, { graphdbUser: "app", graphdbPassword: "another-password" });
    await bench.test.until(`${free}/${other}`, "RUNNING");
    expect(await report()).toMatchObject({ code: 0, json: { census: { unmanaged: 1 } } });
    const { code, json } = await report("--unmanaged");
    expect([code, json["unmanaged"]]).toEqual([
      2,
      [expect.objectContaining({ kind: "instances", id: other })],
    ]);
    expect((await gf("drift", "--unmanaged")).out).toContain(`? instance ${other}`);
    await bench.test.call("DELETE", `${free}/${other}`);
    await bench.test.until(`${free}/${other}`, 404);
  });

  it("leaves out what options leave out, and says so", async () => {
    const { json } = await report("--target", "instances.orders");
    expect(json).toMatchObject({
      complete: false,
      census: { skipped: 2, not_checked: [{ address: "instances.cache" }, { address: "users.reader" }] },
    });
    expect((await gf("drift", "--target", "instances.order")).err).toContain("instances.orders");
  });

  it("proves nothing where nobody can look: exit 1, as a document too", async () => {
    const { code, json } = await report("--platform-url", "http://127.0.0.1:1");
    expect([code, json["errored"], json["drifted"]]).toEqual([1, true, false]);
    const missing = await bench.bare(
      ...["drift", "-f", `${bench.folder}/graphform.yaml`, "--state", `${bench.folder}/other.json`],
    );
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining("there is no state at")]);
  });

  it("names a deletion, and no value can adopt it", async () => {
    await bench.test.call("DELETE", `${free}/${idOf(await bench.state(), "instances.cache")}`);
    await bench.test.until(`${free}/${idOf(await bench.state(), "instances.cache")}`, 404);
    expect(await report()).toMatchObject({ code: 2, found: ["instances.cache deleted"] });
    const { out } = await gf("drift");
    expect(out).toMatch(/Deleted outside \(1\)\n\n {2}- instances\.cache \(instance-\w+\)/);
    const refused = await gf("drift", "--adopt", "instances.cache");
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringMatching(/it was deleted outside[\s\S]*removed/),
    ]);
  });
});

function idOf(state: JsonObject, address: string): string {
  const resources = state["resources"];
  const bound = isObject(resources) ? resources[address] : undefined;
  return isObject(bound) ? String(bound["id"]) : "";
}

/** Each resource that was changed outside, with the fields that were. */
function found({ resources }: JsonObject): readonly string[] {
  return objects(resources)
    .filter((resource) => resource["class"] === "outside")
    .map((resource) => {
      const fields = objects(resource["fields"]).map(({ path, applied, seen, source, where }) => {
        const line = isObject(where) ? String(where["line"]) : "?";
        return ` ${String(path)} ${String(applied)}>${String(seen)} ${String(source)} line ${line}`;
      });
      return `${String(resource["address"])} ${String(resource["what"])}${fields.join(";")}`;
    });
}

function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
