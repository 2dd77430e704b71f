import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { testProfile } from "../manifest/test-profile.ts";
import { checkSections } from "./sample.ts";

const base = { cloudProvider: "aws", region: "us-east-1" };
const signIn = testProfile.signIn;

function checkNetworks(
  network: JsonObject,
  more: JsonObject = {},
  creates = false,
): ReturnType<typeof checkSections> {
  const operations = creates
    ? { ...testProfile.operations, "network.create": signIn }
    : testProfile.operations;
  return checkSections({ networks: { core: network }, ...more }, { operations });
}

describe("networks (specification 2.4)", () => {
  it("need an id where they cannot be created", async () => {
    expect((await checkNetworks(base)).errors).toEqual(["networks.core missing-key"]);
    expect((await checkNetworks({ ...base, id: "n-1" })).errors).toEqual([]);
    expect((await checkNetworks(base, {}, true)).errors).toEqual([]);
  });

  it("may be bound by an import instead", async () => {
    expect(
      (await checkNetworks(base, { imports: [{ address: "networks.core", id: "n-1" }] })).errors,
    ).toEqual([]);
  });

  it.each([
    ["10.0.0.0/16", true],
    ["192.168.255.255/32", true],
    ["0.0.0.0/0", true],
    ["256.0.0.0/16", false],
    ["10.0.0/16", false],
    ["10.0.0.0/33", false],
    ["10.0.0.0", false],
    ["10.0.0.0/16 ", false],
  ])("cidr %s: %s", async (cidr, fine) => {
    expect((await checkNetworks({ ...base, id: "n-1", cidr })).errors).toEqual(
      fine ? [] : ["networks.core bad-format"],
    );
  });
});
