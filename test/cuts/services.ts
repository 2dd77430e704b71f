import type { NetworkSeed } from "../../src/platform/model/records.ts";
import { cloudWords, type Wording } from "./wording.ts";

/** A service that is cut at: the local platform as a profile speaks to it. */
export interface CutService {
  /** The profile's file. */
  readonly profile: string;
  readonly networks: "full" | "adopt-only";
  readonly networkSeeds: readonly NetworkSeed[];
  /** Where the profile says things in other words than the local platform. */
  readonly wording?: Wording;
}

export const profileNames = ["default", "full", "falkordb-cloud"] as const;
export type ProfileName = (typeof profileNames)[number];

/** The local platform shows what is so, at once. */
const timing =
  "timing: { settle: 300ms, listLag: 50ms, endpoint: 100ms, poll: { first: 20ms, longest: 200ms } }";

/** Networks are there already where the profile cannot create them, one of them under another name. */
const networkSeeds: readonly NetworkSeed[] = [
  { id: "n-core", name: "core", cloudProvider: "aws", region: "us-east-1", cidr: "10.20.0.0/16" },
  { id: "n-side", name: "side", cloudProvider: "aws", region: "us-east-1", cidr: "10.30.0.0/16" },
  { id: "n-spare", name: "as found", cloudProvider: "aws", region: "eu-west-1", cidr: "10.40.0.0/16" },
];

/**
 * The default profile as it is; the default profile with networks that are listed, created and deleted; and the other
 * built-in profile, with its bearer tokens, its list of everything and its own words.
 */
export const services: { readonly [name in ProfileName]: CutService } = {
  default: { profile: `name: cut\nextends: default\n${timing}\n`, networks: "adopt-only", networkSeeds },
  full: {
    profile: `name: cut
extends: default
operations:
  network.list: { request: GET <networks>, query: { customNetworksOnly: "true" }, answer: { items: customNetworks } }
  network.create: { request: POST <networks>, answer: { id: id } }
  network.delete: DELETE <networks>/{id}
${timing}
`,
    networks: "full",
    networkSeeds: [],
  },
  "falkordb-cloud": {
    profile: `name: cut\nextends: falkordb-cloud\n${timing}\n`,
    networks: "full",
    networkSeeds: [],
    wording: cloudWords(),
  },
};
