import { copyFileSync, cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { fullProfile, outsider } from "../support/local-service.ts";
import { actionsIn, readPlan } from "../support/plan-document.ts";
import { quickProfileFile } from "../support/quick-profile.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

let user: Workspace;
let platform: LocalPlatform;

beforeAll(async () => {
  user = openWorkspace();
  user.env["PASSWORD"] = "long-enough-pass";
  copyFileSync(fullProfile, join(user.dir, "full.yaml"));
  platform = await platformUp(user, "--engine", "none", "--networks", "full", "--delay", "5");
  const seed = {
    id: "n-core",
    name: "core",
    cloudProviderName: "aws",
    cloudProviderRegion: "us-east-1",
    cidr: "10.3.0.0/16",
  };
  await platform.control("POST", "networks", seed);
});
afterAll(() => user.close());

/** A manifest of these networks and instances, by its own name; with a profile, or with the default one. */
function write(name: string, sections: object, profile?: string): void {
  const service = profile === undefined ? {} : { service: { profile } };
  user.write(
    "graphform.yaml",
    JSON.stringify({ apiVersion: "graphform/v1", name, ...service, ...sections }, null, 1),
  );
}

/** What is planned, by address. */
async function planned(): Promise<{ readonly [address: string]: readonly string[] }> {
  const { code, out, err } = await user.run("plan", "--json");
  if (code !== 0) throw new Error(err);
  return actionsIn(readPlan(out));
}

const apply = ["apply", "--auto-approve"] as const;
const core = { id: "n-core", name: "core", cloudProvider: "aws", region: "us-east-1", cidr: "10.3.0.0/16" };

describe("where the profile cannot create networks", () => {
  it("one is bound by its id, and nothing is sent for it", async () => {
    write("bound", { networks: { core } });
    await platform.forget();
    const ran = await user.run(...apply);
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("existing n-core is bound") });
    expect(await platform.writes()).toEqual([]);
    expect(await planned()).toEqual({});
    expect(user.state("bound").resources["networks.core"]?.id).toBe("n-core");
  });

  it("its name is changed in place, and by nothing but its name", async () => {
    write("bound", { networks: { core: { ...core, name: "core-prod" } } });
    await platform.forget();
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect(await platform.writes()).toMatchObject([
      { method: "PATCH", operation: "update-network", body: { name: "core-prod" } },
    ]);
    expect(await planned()).toEqual({});
  });

  it.each([
    ["cidr", { cidr: "10.4.0.0/16" }],
    ["region", { region: "eu-west-1" }],
    ["provider", { cloudProvider: "gcp" }],
  ])(
    "its %s cannot be changed: that takes another network, and none can be created",
    async (_what, change) => {
      write("bound", { networks: { core: { ...core, name: "core-prod", ...change } } });
      await platform.forget();
      const ran = await user.run(...apply);
      expect(ran).toMatchObject({
        code: 4,
        out: expect.stringContaining("profile default has no operation to create a network"),
      });
      expect(await platform.writes()).toEqual([]);
    },
  );

  it("one that is no longer declared is let go of, in words, and stays", async () => {
    write("bound", { networks: {}, outputs: { still: "here" } });
    const ran = await user.run("destroy", "--auto-approve");
    expect(ran.out.replace(/\s+/g, " ")).toContain(
      "profile default has no operation to delete a network: it is let go of and stays",
    );
    expect(ran.code).toBe(0);
    expect(user.state("bound").resources).toEqual({});
    expect((await (await outsider(user)).read("network.describe", { id: "n-core" })).values["name"]).toBe(
      "core-prod",
    );
  });

  it("an id that does not exist is an error that names it", async () => {
    write("bound", { networks: { core: { ...core, id: "n-nowhere" } } }, quickProfileFile);
    expect(await user.run("plan")).toMatchObject({
      code: 1,
      err: expect.stringContaining("there is no n-nowhere to bind networks.core to"),
    });
  });
});

describe("where the profile can create networks", () => {
  const edge = { name: "edge", cloudProvider: "aws", region: "eu-west-1", cidr: "10.5.0.0/16" };
  const orders = {
    ...{
      tier: "enterprise",
      component: "standalone",
      cloudProvider: "aws",
      region: "eu-west-1",
      network: "edge",
    },
    lifecycle: { protect: false },
    config: { nodeInstanceType: "m7g.large", graphdbUser: "app", graphdbPassword: "${env.PASSWORD}" },
  };
  const both = { networks: { edge }, instances: { orders } };

  async function listed(name = "edge"): Promise<readonly string[]> {
    const { items } = (await (await outsider(user)).read("network.list", {})).values;
    return (Array.isArray(items) ? items : [])
      .map((item) => JSON.stringify(item))
      .filter((text) => text.includes(`"${name}"`));
  }

  it("it is created, and then what lives in it", async () => {
    write("created", both, "full.yaml");
    await platform.forget();
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    const id = user.state("created").resources["networks.edge"]?.id;
    expect(await platform.writes()).toMatchObject([
      {
        operation: "create-network",
        body: {
          name: "edge",
          cloudProviderName: "aws",
          cloudProviderRegion: "eu-west-1",
          cidr: "10.5.0.0/16",
        },
      },
      { operation: "create", body: { custom_network_id: id } },
    ]);
    expect(await planned()).toEqual({});
  });

  it.each([
    ["by its name", false],
    ["by its id", true],
  ])("what lives in it is named if the state is gone and the network is found %s", async (_, isById) => {
    const named = { ...orders, config: { ...orders.config, name: "orders" } };
    write("created", { networks: { edge }, instances: { orders: named } }, "full.yaml");
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    const id = user.state("created").resources["networks.edge"]?.id;
    const kept = join(user.dir, ".graphform-kept");
    const usual = join(user.dir, ".graphform");
    cpSync(usual, kept, { recursive: true });
    for (const file of readdirSync(usual).filter((each) => each.startsWith("created.state")))
      rmSync(join(usual, file));
    const network = isById ? { ...edge, id } : edge;
    write("created", { networks: { edge: network }, instances: { orders: named } }, "full.yaml");
    const plan = await user.run("plan");
    expect(plan.out.replace(/\s+/g, " ")).toMatch(/(\S+) is there already, alike .* id: \1 \}/);
    cpSync(kept, usual, { recursive: true });
    rmSync(kept, { recursive: true });
    write("created", { networks: { edge }, instances: { orders: named } }, "full.yaml");
    expect(await planned()).toEqual({});
  });

  it("it cannot be deleted while somebody else lives in it, and is once they have left", async () => {
    const { write: send } = await outsider(user);
    const network = user.state("created").resources["networks.edge"]?.id ?? "";
    const place = { serviceModelKey: "hosted", productTierKey: "enterprise", resourceKey: "standalone" };
    const body = {
      cloud_provider: "aws",
      region: "eu-west-1",
      custom_network_id: network,
      requestParams: {},
    };
    expect(await user.run("plan", "--destroy", "--out", "early.plan")).toMatchObject({ code: 0 });
    const { values } = await send("instance.create", place, body);
    await platform.forget();
    const stays = `unmanaged ${values["id"]} stands on it and stays: the service refuses to delete it`;
    const early = await user.run("apply", "early.plan");
    expect([early.code, early.out.replace(/\s+/g, " ")]).toEqual([4, expect.stringContaining(stays)]);
    // The instance is gone; the network is what is left to do.
    expect((await platform.writes()).map(({ operation }) => operation)).toEqual(["delete"]);
    expect(Object.keys(user.state("created").resources)).toEqual(["networks.edge"]);
    await platform.forget();
    const held = await user.run("destroy", "--auto-approve");
    expect([held.code, held.out.replace(/\s+/g, " ")]).toEqual([4, expect.stringContaining(stays)]);
    expect(await platform.writes()).toEqual([]);
    await send("instance.delete", { ...place, id: String(values["id"]) });
    expect(await user.run("destroy", "--auto-approve")).toMatchObject({ code: 0 });
    expect(user.state("created").resources).toEqual({});
    expect(await listed()).toEqual([]);
  });

  it("one that is there under this name already is bound, and not created a second time", async () => {
    write("found", { networks: { edge } }, "full.yaml");
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    const { id } = user.state("found").resources["networks.edge"] ?? expect.fail();
    for (const ending of ["", ".backup", ".log"])
      rmSync(join(user.dir, ".graphform", `found.state.json${ending}`), { force: true });
    await platform.forget();
    const ran = await user.run(...apply);
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining(`existing ${id} is bound`) });
    expect(await platform.writes()).toEqual([]);
    expect(user.state("found").resources["networks.edge"]?.id).toBe(id);
    expect(await listed()).toHaveLength(1);
  });

  it("a saved plan makes no second one of what is there under this name by now", async () => {
    const late = { ...edge, name: "late" };
    write("late", { networks: { edge: late } }, "full.yaml");
    expect(await user.run("plan", "--out", "late.plan")).toMatchObject({ code: 0 });
    write("early", { networks: { edge: late } }, "full.yaml");
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    write("late", { networks: { edge: late } }, "full.yaml");
    expect(await user.run("apply", "late.plan")).toMatchObject({
      code: 4,
      out: expect.stringContaining("since this plan was made"),
    });
    expect(await listed("late")).toHaveLength(1);
  });

  it("one of that name elsewhere is another one", async () => {
    write("elsewhere", { networks: { edge: { ...edge, region: "us-west-2" } } }, "full.yaml");
    expect(await planned()).toEqual({ "networks.edge": ["create"] });
  });

  it("where two have its name, a person has to say which one it is", async () => {
    await (await outsider(user)).write(
      "network.create",
      {},
      { name: "edge", cloudProviderName: "aws", cloudProviderRegion: "eu-west-1", cidr: "10.5.0.0/16" },
    );
    write("doubtful", { networks: { edge } }, "full.yaml");
    const ran = await user.run(...apply);
    expect(ran.code).toBe(4);
    expect(ran.out.replace(/\s+/g, " ")).toMatch(/n-\w+ and n-\w+ exist already under this name/);
    expect(await listed()).toHaveLength(2);
  });

  describe("what stays in it holds it", () => {
    const den = { name: "den", cloudProvider: "aws", region: "eu-west-1", cidr: "10.7.0.0/16" };
    const post = { ...den, name: "post" };
    const tenant = { ...orders, network: "den" };
    const letGo = (address: string): object => ({ address, destroy: false });
    const words = async (...line: string[]): Promise<string> => {
      const { code, out } = await user.run(...line);
      return `${code}: ${out.replace(/\s+/g, " ")}`;
    };

    it.each<[how: string, instances: object, removed: readonly object[], after: RegExp]>([
      [
        "what the same plan lets go of",
        {},
        [letGo("instances.tenant")],
        /unmanaged instance-\S+ stands on it/,
      ],
      [
        "what is declared without it from now on",
        { tenant: { ...tenant, network: undefined } },
        [],
        /instances\.tenant stands on it/,
      ],
    ])("%s; let go of as well, it stays", async (how, instances, removed, after) => {
      const name = how.replaceAll(" ", "-");
      write(name, { networks: { den, post }, instances: { tenant } }, "full.yaml");
      expect(await user.run(...apply)).toMatchObject({ code: 0 });
      await platform.forget();
      const networks = { post };
      write(name, { networks, instances, removed }, "full.yaml");
      expect(await words(...apply)).toMatch(
        /^4: .* instances\.tenant stands on it and stays: the service refuses to delete it/,
      );
      expect(await words("plan")).toMatch(after);
      write(name, { networks, instances, removed: [...removed, letGo("networks.den")] }, "full.yaml");
      expect(await user.run(...apply)).toMatchObject({ code: 0 });
      expect(await planned()).toEqual({});
      expect(await platform.writes()).toEqual([]);
    });

    it("what was let go of before, and nothing in it is deleted for another one", async () => {
      const second = { ...tenant, lifecycle: { ...tenant.lifecycle, onReplace: "recreate" } };
      const lair = { ...den, name: "lair", lifecycle: { protect: false, onReplace: "recreate" } };
      const removed = [letGo("instances.tenant")];
      write("lair", { networks: { den: lair }, instances: { tenant, second } }, "full.yaml");
      expect(await user.run(...apply)).toMatchObject({ code: 0 });
      write("lair", { networks: { den: lair }, instances: { second }, removed }, "full.yaml");
      expect(await user.run(...apply)).toMatchObject({ code: 0 });
      await platform.forget();
      const moved = { ...lair, cidr: "10.8.0.0/16" };
      write("lair", { networks: { den: moved }, instances: { second }, removed }, "full.yaml");
      expect(await words(...apply)).toMatch(/^4: .* unmanaged instance-\S+ stands on it and stays/);
      expect(await platform.writes()).toEqual([]);
    });
  });
});
