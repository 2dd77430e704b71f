import { cloudAccountSchema } from "../../src/fields/cloud-account.ts";
import { instanceSchema } from "../../src/fields/instance.ts";
import { networkSchema } from "../../src/fields/network.ts";
import { userSchema } from "../../src/fields/user.ts";
import type { KindNames } from "../../src/report/words.ts";

const kinds = [
  { name: "instances", noun: "instance", type: "graphform_instance", schema: instanceSchema },
  { name: "networks", noun: "network", type: "graphform_network", schema: networkSchema },
  {
    name: "cloudAccounts",
    noun: "cloud account",
    type: "graphform_cloud_account",
    schema: cloudAccountSchema,
  },
  { name: "users", noun: "user", type: "graphform_user", schema: userSchema },
];

/** The kinds of the manifest as reports know them. */
export const words: KindNames = { find: (section) => kinds.find(({ name }) => name === section) };
