import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeService } from "../support/fake-service.ts";
import { actionsIn, readPlan } from "../support/plan-document.ts";
import { quickProfileFile } from "../support/quick-profile.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

type Value = string | number | boolean;

interface Row {
  readonly field: string;
  readonly before: Value;
  readonly after: Value;
  readonly effect: "in place" | "replacement";
  /** Where the field is to be had. Default: enterprise, standalone. */
  readonly tier?: string;
  readonly component?: string;
}

/** Specification 2.2 and the region of 2.1, typed by hand: what changing each field takes. */
const rows: readonly Row[] = [
  { field: "name", before: "old name", after: "new name", effect: "in place" },
  { field: "description", before: "old words", after: "new words", effect: "in place" },
  { field: "nodeInstanceType", before: "m7g.large", after: "r7g.large", effect: "in place" },
  { field: "maxMemory", before: "4GB", after: "6GB", effect: "in place" },
  { field: "graphdbPassword", before: "old-pass-1234", after: "new-pass-5678", effect: "in place" },
  {
    field: "memoryRequestsAndLimits",
    before: "1200M",
    after: "2200M",
    effect: "replacement",
    tier: "startup",
  },
  { field: "graphdbUser", before: "app", after: "other_app", effect: "replacement" },
  { field: "enableTLS", before: false, after: true, effect: "replacement" },
  { field: "enableEnterpriseModule", before: false, after: true, effect: "replacement" },
  { field: "AOFPersistenceConfig", before: "everysec", after: "always", effect: "replacement" },
  { field: "RDBPersistenceConfig", before: "low", after: "high", effect: "replacement" },
  { field: "graphDBCacheSize", before: 25, after: 100, effect: "replacement" },
  { field: "graphDBMaxQueuedQueries", before: 50, after: 512, effect: "replacement" },
  { field: "graphDBNodeCreationBuffer", before: 16384, after: 256, effect: "replacement" },
  { field: "graphDBQueryMemCapacity", before: 21474836480, after: 5242880, effect: "replacement" },
  { field: "graphDBResultSetSize", before: 10000, after: 1000000, effect: "replacement" },
  { field: "graphDBTimeoutDefault", before: 0, after: 45000, effect: "replacement" },
  { field: "graphDBTimeoutMax", before: 0, after: 45000, effect: "replacement" },
  { field: "region", before: "us-east-1", after: "eu-west-1", effect: "replacement" },
];

let service: FakeService;
let user: Workspace;

beforeAll(async () => {
  service = await FakeService.start();
  user = openWorkspace();
  Object.assign(user.env, service.env);
  write();
  const applied = await user.run("apply", "--auto-approve");
  expect(applied).toMatchObject({ code: 0, err: expect.stringContaining("instances.region: created") });
});

afterAll(async () => {
  await user.close();
  await service.close();
});

/** Values that were applied, by field. */
const applied = new Map<string, Value>();

/** A manifest with an instance for each field; every one has the value that was applied, but for the changed one. */
function write(changed?: Row, more: { readonly [field: string]: object } = {}): void {
  const current = (row: Row): Value => (row === changed ? row.after : (applied.get(row.field) ?? row.before));
  const blocks = [...rows, replicas].map((row) =>
    block(row, { [row.field]: current(row), ...more[row.field] }),
  );
  const head = `apiVersion: graphform/v1\nname: fields\nservice: { profile: ${quickProfileFile}, platformUrl: "${service.url}" }\n`;
  user.write("graphform.yaml", `${head}instances:\n${blocks.join("")}`);
}

function block({ field, tier = "enterprise", component = "standalone" }: Row, values: object): string {
  const { region, ...config } = {
    region: "us-east-1",
    graphdbUser: "app",
    graphdbPassword: "long-enough-pass",
    ...(tier === "startup" ? {} : { nodeInstanceType: "m7g.large" }),
    ...values,
  };
  const place = `tier: ${tier}, component: ${component}, cloudProvider: aws, region: ${region}`;
  return `  ${field}: { ${place}, config: ${JSON.stringify(config)} }\n`;
}

/** It has one allowed value only: it can differ by somebody else's doing alone. */
const replicas: Row = {
  field: "numReplicas",
  before: 2,
  after: 2,
  effect: "replacement",
  component: "single-zone",
};

function pathOf({ field }: Row): string {
  return field === "region" ? "region" : `config.${field}`;
}

describe("each field changed alone", () => {
  it.each(rows)("$field: $effect", async (row) => {
    const address = `instances.${row.field}`;
    const path = pathOf(row);
    const isSecret = row.field === "graphdbPassword";
    write(row);
    service.forget();

    const [text, document] = await Promise.all([user.run("plan"), user.run("plan", "--json")]);
    expect([text.code, document.code]).toEqual([0, 0]);
    expect(service.writes()).toEqual([]);
    const plan = readPlan(document.out);
    const inPlace = row.effect === "in place";
    expect(actionsIn(plan)).toEqual({ [address]: inPlace ? ["update"] : ["delete", "create"] });
    const { change } = plan.resource_changes.find((entry) => entry.address === address) ?? expect.fail();
    expect(change.replace_paths).toEqual(inPlace ? [] : [path.split(".")]);
    const ours = plan.x_graphform.changes[address];
    expect(Object.keys(ours?.fields ?? {})).toEqual([path]);
    expect(ours?.forced_by).toBe(inPlace ? undefined : path);
    const values = isSecret ? ["(sensitive)"] : [row.before, row.after].map((value) => JSON.stringify(value));
    const line = text.out
      .split("\n")
      .find((each) => each.trim().startsWith(`${inPlace ? "~" : "±"} ${path} `));
    for (const value of values) expect(line).toContain(value);
    expect(line?.includes("# forces replacement")).toBe(!inPlace);
    expect(text.out).toMatch(
      inPlace
        ? /^Plan: 0 to add, 1 to change, 0 to destroy\.$/m
        : /^1 of these is blocked: apply does nothing and exits 4\.\nPlan: 0 to add, 0 to change, 0 to destroy\.$/m,
    );

    const ran = await user.run("apply", "--auto-approve");
    if (inPlace) {
      applied.set(row.field, row.after);
      expect(ran).toMatchObject({ code: 0 });
      expect(service.writes()).toMatchObject([
        { operation: "update", id: user.state("fields").resources[address]?.id },
      ]);
      expect(service.writes()[0]?.body).toEqual({ requestParams: { [row.field]: row.after } });
    } else {
      expect(ran).toMatchObject({ code: 4, out: expect.stringContaining("which is refused") });
      expect(service.writes()).toEqual([]);
    }
  });

  it("numReplicas, which has one value only, is a replacement where the service shows another", async () => {
    const address = "instances.numReplicas";
    write();
    const instance =
      service.instances.get(user.state("fields").resources[address]?.id ?? "") ?? expect.fail();
    instance.params = { ...instance.params, numReplicas: 3 };
    service.echo = true;
    const plan = readPlan((await user.run("plan", "--json")).out);
    service.behave();
    instance.params = { ...instance.params, numReplicas: 2 };
    expect(actionsIn(plan)).toEqual({ [address]: ["delete", "create"] });
    expect(plan.x_graphform.changes[address]?.forced_by).toBe("config.numReplicas");
    expect(plan.resource_drift.map((drift) => drift.address)).toEqual([address]);
  });

  it("a field that is written down with the default it had all along is no change, another value is", async () => {
    const address = "instances.name";
    write(undefined, { name: { graphDBCacheSize: 25 } });
    expect(actionsIn(readPlan((await user.run("plan", "--json")).out))).toEqual({});
    write(undefined, { name: { graphDBCacheSize: 26 } });
    expect(actionsIn(readPlan((await user.run("plan", "--json")).out))).toEqual({
      [address]: ["delete", "create"],
    });
  });
});

describe("a replacement that is allowed", () => {
  it("deletes first, then creates, with every declared field", async () => {
    const row = rows.find(({ field }) => field === "graphDBCacheSize") ?? expect.fail();
    write(row);
    const before = user.state("fields").resources["instances.graphDBCacheSize"]?.id;
    service.forget();
    const which = "instances.graphDBCacheSize";
    const ran = await user.run("apply", "--auto-approve", "--allow-destroy", which, "--replace", which);
    expect(ran).toMatchObject({
      code: 0,
      out: expect.stringContaining("Resources: 1 added, 0 changed, 1 destroyed."),
    });
    expect(service.writes()).toMatchObject([
      { operation: "delete", id: before },
      {
        operation: "create",
        place: "hosted/enterprise/standalone",
        body: {
          cloud_provider: "aws",
          region: "us-east-1",
          requestParams: {
            graphdbUser: "app",
            graphdbPassword: "long-enough-pass",
            nodeInstanceType: "m7g.large",
            graphDBCacheSize: 100,
          },
        },
      },
    ]);
    const ids = Object.values(user.state("fields").resources).map(({ id }) => id);
    expect([...service.instances.keys()].sort()).toEqual([...ids].sort());
    expect(ids).not.toContain(before);
  });
});
