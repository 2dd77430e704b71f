/** @module Holds the field table of database users. */
import type { KindSchema } from "../model/field-schema.ts";
import { fixed, textRow } from "./instance.ts";

/** Password and access list can be changed in place. */
export const userSchema: KindSchema = {
  type: "object",
  additionalProperties: false,
  required: ["instance", "username", "password", "acl"],
  properties: {
    instance: fixed('The instance: a name under instances, or name["key"].', {
      "x-place": true,
      "x-reference": { section: "instances", output: "id" },
    }),
    username: fixed("Name to log in with.", { "x-place": true }),
    password: textRow("Password.", { "x-secret": true, "x-probe": { connection: "login" } }),
    acl: textRow(
      "Access rules: ~PATTERN, %R~PATTERN, %W~PATTERN, +COMMAND of the service's list, -COMMAND; no password.",
      { "x-compare": "acl" },
    ),
  },
};
