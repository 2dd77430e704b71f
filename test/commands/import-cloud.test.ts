import { describe, expect, it } from "vitest";
import { subscriptionsOf } from "../support/cloud.ts";
import { type CloudBench, cloudBench } from "./cloud-bench.ts";

const params = (
  name: string,
  type: string,
): { readonly result_params: { readonly [name: string]: string } } => ({
  result_params: { name, nodeInstanceType: type, falkordbUser: "app", falkordbPassword: "never-written" },
});

function fill({ cloud }: CloudBench): void {
  for (let at = 0; at < 200; at += 1) {
    const tier = at % 2 === 0 ? "pro" : "enterprise";
    cloud.instances.push({
      id: `instance-${at}`,
      tier,
      resource: "single-Zone",
      shown: params(`cache ${at}`, at % 3 === 0 ? "m6i.newest" : "m7g.large"),
    });
  }
  cloud.instances.push(
    { id: "instance-odd", tier: "pro", resource: "octopus" },
    { id: "instance-free", tier: "free", resource: "free", shown: params("small", "x") },
    { id: "instance-of-others", tier: "pro", resource: "single-Zone", subscription: "sub-of-others" },
    { id: "instance-nowhere", tier: "pro", resource: "single-Zone", shown: { resourceID: "r-unknown" } },
    { id: "account-1", tier: "pro", resource: "a", shown: { resourceID: "r-injectedaccountconfig-1" } },
  );
}

async function imported(bench: CloudBench): Promise<{ readonly text: string; readonly err: string }> {
  const out = `${bench.folder}/all.yaml`;
  const ran = await bench.bare("import", "--all", "--out", out, "--state", `${bench.folder}/all.json`);
  expect(ran.code, ran.err).toBe(0);
  const plan = await bench.bare(
    ...["plan", "--detailed-exitcode", "-f", out, "--state", `${bench.folder}/all.json`],
  );
  expect(plan.code, plan.out + plan.err).toBe(0);
  const text = await bench.read("all.yaml");
  expect(text + plan.out + (await bench.read("all.json"))).not.toMatch(/@|never-written/);
  return { text, err: ran.err };
}

describe("import --all at the vendor's service", () => {
  it("takes what one list shows, and says what it left out and why", async () => {
    const bench = await cloudBench();
    fill(bench);
    bench.cloud.subscriptions = subscriptionsOf("pro", "enterprise", "free");
    bench.cloud.meddle = ({ url }) =>
      url.includes("custom-network")
        ? { status: 403, body: { name: "forbidden", message: "no" } }
        : undefined;
    const { text, err } = await imported(bench);
    expect(err).toContain("201 resources written");
    for (const said of [
      /left out instance-odd: the profile cloud has no component for "octopus"/,
      /left out instance-of-others: it belongs to the pro subscription sub-of-others, and sub-pro is used/,
      /left out instance-nowhere: no plan of the service has its resource "r-unknown"/,
      /left out networks of the service: network.list: no \(403\)/,
    ])
      expect([err, text.replace(/# Left out:/g, "left out")]).toEqual([
        expect.stringMatching(said),
        expect.stringMatching(said),
      ]);
    expect(err).not.toContain("account-1");
    expect(text).toContain("nodeInstanceType: m6i.newest");
    expect(bench.cloud.service.to("/2022-09-01-00/resource-instance").length).toBe(1);
  });

  it("goes on where a tier is refused, and where the catalogue is missing", async () => {
    const bench = await cloudBench();
    fill(bench);
    bench.cloud.meddle = ({ url }) => {
      if (url.includes("service-offering")) return { status: 404, body: { message: "no catalogue" } };
      if (url.includes("falkordb-pro-") && url.split("?")[0]?.endsWith("/single-Zone"))
        return { status: 403, body: { message: "pro is not for you" } };
      return undefined;
    };
    bench.env["GRAPHFORM_SUBSCRIPTION_ID"] = "sub-enterprise";
    const { text, err } = await imported(bench);
    expect(err).toContain("101 resources written");
    expect(err).toMatch(/left out instances of pro single-zone: instance.list: pro is not for you/);
    expect(err).toMatch(/left out cloudAccounts of the service: plans.list: no catalogue/);
    expect(text).toMatch(/# Left out: instances of pro single-zone/);
  });

  it("fails where everything is refused", async () => {
    const bench = await cloudBench();
    bench.env["GRAPHFORM_SUBSCRIPTION_ID"] = "sub-1";
    bench.cloud.meddle = ({ method }) =>
      method === "GET" ? { status: 403, body: { message: "no" } } : undefined;
    const ran = await bench.bare("import", "--all");
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("no (403)") });
  });

  it("says where a list may have more, and follows it where the profile knows how", async () => {
    const bench = await cloudBench();
    bench.cloud.instances.push({
      id: "instance-1",
      tier: "pro",
      resource: "single-Zone",
      shown: params("a", "m7g.large"),
    });
    let pages = 0;
    bench.cloud.meddle = ({ url }) => {
      if (!/\/resource-instance(\?|$)/.test(url)) return undefined;
      pages += 1;
      const token = new URL(url, "http://x").searchParams.get("page");
      const body = { resourceInstances: [], ...(token === "2" ? {} : { nextPageToken: "2" }) };
      return { body };
    };
    expect((await bench.bare("import", "--all")).err).toContain("possibly more");
    expect(pages).toBe(1);
    const knowing = await cloudBench(
      "",
      'operations:\n  instance.list-all: { query: { page: "{nextPage}" } }\n',
    );
    knowing.cloud.meddle = bench.cloud.meddle;
    const ran = await knowing.bare("import", "--all");
    expect(ran.err).not.toContain("possibly more");
    expect(pages).toBe(3);
  });
});
