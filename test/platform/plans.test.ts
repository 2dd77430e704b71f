import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json } from "../../src/model/json.ts";
import { components, startTest, type TestPlatform } from "./harness.ts";

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest();
});
afterAll(() => test.close());

describe("service plans (2.6)", () => {
  it("offers every tier under its two keys, with its components", async () => {
    const { body, status } = await test.call("GET", "/2022-09-01-00/service-offering");
    expect(status).toBe(200);
    const [service] = asList(body["services"]);
    const offerings = asList(service?.["offerings"]);
    const shown = offerings.map((offering) => [
      `${offering["serviceModelKey"]}/${offering["productTierKey"]}`,
      asList(offering["resourceParameters"])
        .map((resource) => resource["urlKey"])
        .join(" "),
    ]);
    expect(shown).toEqual([
      ["byoa/enterprise-byoa", "standalone single-zone multi-zone cloud-account"],
      ["hosted/enterprise", "standalone single-zone multi-zone"],
      ["hosted/pro", "standalone single-zone multi-zone"],
      ["hosted/startup", "standalone"],
      ["hosted/free", "free"],
    ]);
    const accounts = offerings.flatMap((offering) =>
      asList(offering["resourceParameters"]).filter((resource) =>
        String(resource["resourceId"]).startsWith("r-injectedaccountconfig"),
      ),
    );
    expect(accounts).toHaveLength(1);
  });

  it("lists subscriptions, one for each plan", async () => {
    const { body } = await test.call("GET", "/2022-09-01-00/subscription");
    expect(asList(body["subscriptions"]).map(({ id, status }) => `${id} ${status}`)).toEqual([
      "sub-enterprise-byoa ACTIVE",
      "sub-enterprise ACTIVE",
      "sub-pro ACTIVE",
      "sub-startup ACTIVE",
      "sub-free ACTIVE",
    ]);
  });

  it.each([
    ["an unknown component", "hosted/startup/multi-zone"],
    ["a component of another tier", "hosted/pro/free"],
    ["keys of two plans", "byoa/pro/standalone"],
    ["another spelling of the case", "hosted/pro/Standalone"],
  ])("has no path for %s", async (_why, path) => {
    const answer = await test.call("GET", `${components}/${path}`);
    expect([answer.status, answer.body["name"]]).toEqual([404, "not_found"]);
  });
});

function asList(value: Json | undefined): readonly { readonly [key: string]: Json }[] {
  return JSON.parse(JSON.stringify(value ?? []));
}
