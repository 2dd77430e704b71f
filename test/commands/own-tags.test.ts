import { describe, expect, it } from "vitest";
import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";
import { type CloudBench, cloudBench } from "./cloud-bench.ts";
import { run } from "./harness.ts";

const manifest = (name = "one", more = ""): string => `instances:
  ${name}:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1${more}
    config: { name: one, graphdbUser: app, graphdbPassword: "\${secret.pw}" }
`;
const team = "\n    customTags: { team: shop }";
const address = (name = "one"): JsonObject => ({ key: "graphform-address", value: `instances.${name}` });

const cost: JsonObject = { key: "cost", value: "7" };

function tagsOf({ cloud }: CloudBench): Json {
  return cloud.instances[0]?.shown?.["customTags"] ?? null;
}

/** What somebody does to the tags at the service. */
function tag({ cloud }: CloudBench, customTags: Json): void {
  const [instance] = cloud.instances;
  if (instance !== undefined) cloud.instances[0] = { ...instance, shown: { ...instance.shown, customTags } };
}

async function applied(bench: CloudBench): Promise<string> {
  const { code, out, err } = await bench.gf("apply", "--auto-approve");
  expect(code, out + err).toBe(0);
  return out;
}

async function made(
  more = team,
): Promise<{ readonly bench: CloudBench; readonly tags: readonly JsonObject[] }> {
  const bench = await cloudBench(manifest("one", more));
  await applied(bench);
  const tags = tagsOf(bench);
  return { bench, tags: Array.isArray(tags) ? tags.filter(isObject) : [] };
}

const planOf = async (bench: CloudBench): Promise<{ readonly code: number; readonly text: string }> => {
  const { code, out } = await bench.gf("plan", "--detailed-exitcode");
  return { code, text: out };
};

describe("the tags that graphform keeps on what it has made", () => {
  const meddlings: readonly (readonly [string, readonly JsonObject[]])[] = [
    ["all of them are removed", []],
    ["one is removed", [{ key: "team", value: "shop" }, address()]],
    ["one is altered, and somebody's is added", [address("other"), cost]],
  ];
  it.each(meddlings)("are put back in place where %s", async (_, meddled) => {
    const { bench, tags } = await made();
    expect(tags).toHaveLength(3);
    tag(bench, meddled);
    const { code, text } = await planOf(bench);
    expect(code).toBe(2);
    expect(text).toMatch(/customTags\.graphform-/);
    await applied(bench);
    const wanted = meddled.includes(cost) ? [...tags, cost] : tags;
    for (const each of wanted) expect(tagsOf(bench)).toContainEqual(each);
    expect((await planOf(bench)).code).toBe(0);
  });

  it("are said to be removed or altered outside", async () => {
    const { bench } = await made("");
    tag(bench, []);
    expect((await planOf(bench)).text).toContain(
      "the tags that graphform keeps on it were removed or altered outside",
    );
  });

  it.each([
    ["state mv", manifest("two"), true],
    ["moved", `${manifest("two")}moved: [{ from: instances.one, to: instances.two }]\n`, false],
  ])("follow the address after %s, by an update that is shown", async (_, next, isByHand) => {
    const { bench } = await made("");
    const file = ["-f", `${bench.folder}/graphform.yaml`, "--state", `${bench.folder}/state.json`];
    if (isByHand)
      expect(await run(["state", "mv", "instances.one", "instances.two", ...file], bench.env)).toMatchObject({
        code: 0,
      });
    await bench.manifest(next);
    const { code, text } = await planOf(bench);
    expect(code).toBe(2);
    expect(text).toContain("the tags that graphform keeps on it follow its address");
    expect(text).not.toContain("outside");
    await applied(bench);
    expect(tagsOf(bench)).toContainEqual(address("two"));
    const [sent] = bench.cloud.service.to("/metadata");
    expect(sent?.method).toBe("PATCH");
    expect((await planOf(bench)).code).toBe(0);
  });

  it("are left as they are where the lifecycle ignores tags", async () => {
    const { bench } = await made("\n    lifecycle: { ignoreChanges: [customTags] }");
    tag(bench, []);
    expect((await planOf(bench)).code).toBe(0);
  });

  it("are nobody's concern where the service shows no tags, or never kept those of the create", async () => {
    const { bench } = await made("");
    tag(bench, null);
    expect((await planOf(bench)).code).toBe(0);
    const forgetful = await cloudBench(manifest());
    forgetful.cloud.meddle = ({ method, url }) => {
      if (method === "GET" && /\/instance-1(\?|$)/.test(url)) tag(forgetful, []);
      return undefined;
    };
    await applied(forgetful);
    expect((await planOf(forgetful)).code).toBe(0);
  });

  it("are not put on what was imported, nor taken from another state's", async () => {
    const another = { key: "graphform-state", value: "another" };
    for (const customTags of [[], [another, address("theirs")], [another, address()]]) {
      const bench = await cloudBench(manifest());
      const shown = { customTags, result_params: { name: "one", falkordbUser: "app" } };
      bench.cloud.instances.push({ id: "instance-1", tier: "free", resource: "free", shown });
      const imported = await bench.gf("import", "instances.one", "instance-1");
      expect(imported.code, imported.err).toBe(0);
      expect((await planOf(bench)).text).not.toContain("graphform-");
      await applied(bench);
      await bench.manifest(manifest().replace("name: one,", "name: one, description: moved house,"));
      await applied(bench);
      expect(tagsOf(bench)).toEqual(customTags);
      expect((await planOf(bench)).code).toBe(0);
      const everything = await bench.bare("import", "--all");
      expect(everything.out).not.toContain("graphform-state");
    }
  });
});
