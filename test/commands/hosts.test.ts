import { describe, expect, it } from "vitest";
import { type HostLayer, hostsOf } from "../../src/project/locate-service.ts";

const platform = "https://platform.example.com";
const users = "https://users.example.com";
const other = "https://other.example.com";
const pair = { platformUrl: platform, usersUrl: users };

/** Layers from the first to the last, each without its name. */
function of(...layers: readonly Omit<HostLayer, "from">[]): ReturnType<typeof hostsOf> {
  return hostsOf(layers.map((layer, at) => ({ ...layer, from: `layer ${at}` })));
}

describe("the hosts of a service", () => {
  it.each([
    ["one layer", [pair], pair],
    ["both anew", [{ platformUrl: other, usersUrl: other }, pair], { platformUrl: other, usersUrl: other }],
    [
      "one anew where the pair had but this one",
      [{ platformUrl: other }, { platformUrl: platform }],
      { platformUrl: other },
    ],
    ["the users host added", [{ usersUrl: users }, { platformUrl: platform }], pair],
    ["the platform added", [{ platformUrl: platform }, { usersUrl: users }], pair],
    [
      "the same one named again",
      [{ platformUrl: `${platform}/` }, pair],
      { ...pair, platformUrl: `${platform}/` },
    ],
    [
      "the same users host named again",
      [{ usersUrl: `${users}:443` }, pair],
      { ...pair, usersUrl: `${users}:443` },
    ],
    ["no platform at all", [{ usersUrl: users }], undefined],
  ])("%s", (_, layers, hosts) => {
    expect(of(...layers)).toEqual(hosts);
  });

  it.each([
    [
      "the platform alone",
      [{ platformUrl: other }, pair],
      /layer 0 names another platform host.*users host would still be https:\/\/users.*layer 1/,
    ],
    [
      "the users host alone",
      [{ usersUrl: other }, pair],
      /layer 0 names another users host.*platform host would still be https:\/\/platform/,
    ],
    ["the platform alone, two layers above", [{ platformUrl: other }, {}, pair], /layer 0 names.*layer 2/],
    [
      "each in a layer of its own",
      [{ platformUrl: other }, { usersUrl: users }, pair],
      /layer 0 names another platform/,
    ],
  ])("refuses %s", (_, layers, message) => {
    expect(() => of(...layers)).toThrow(
      expect.objectContaining({ code: "hosts-apart", message: expect.stringMatching(message) }),
    );
  });
});
