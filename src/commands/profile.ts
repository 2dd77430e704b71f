/** @module Prints the service profiles: all by name, or the content of one. */
import { builtInProfiles, loadProfile } from "../hosting/profile/load-profile.ts";
import { exitCodes } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Profile } from "../model/profile.ts";
import { jsonText } from "../report/json-text.ts";
import { tableText } from "./terminal/table-text.ts";
import type { Invocation } from "./with-run.ts";

/** Options of `profile list` and `profile show`. */
export interface ProfileOptions {
  readonly json?: boolean;
}

/** `profile list`: prints the profiles of the package. */
export async function profileList({ options, terminal }: Invocation<ProfileOptions>): Promise<number> {
  const profiles = await Promise.all(builtInProfiles.map(loadProfile));
  const rows = profiles.map((profile) => [
    profile.name,
    profile.platformUrl ?? "set by you",
    `${Object.keys(profile.operations).length}`,
    Object.keys(profile.tiers).join(", "),
  ]);
  if (options.json === true)
    terminal.out(`${jsonText(profiles.map(({ name, platformUrl = null }) => ({ name, platformUrl })))}\n`);
  else terminal.out(tableText(["profile", "platform", "operations", "tiers"], rows, terminal));
  return exitCodes.done;
}

/** `profile show NAME`: prints a profile, merged with the profile that it extends. */
export async function profileShow(
  { options, terminal }: Invocation<ProfileOptions>,
  name: string,
): Promise<number> {
  const profile = await loadProfile(name);
  if (options.json === true) {
    terminal.out(`${jsonText(plain(profile))}\n`);
    return exitCodes.done;
  }
  const operations = Object.entries(profile.operations).map(([operation, { method, path, host }]) => [
    operation,
    method,
    host === "users" ? `${path} (users host)` : path,
  ]);
  const tiers = Object.entries(profile.tiers).map(([tier, keys]) => [
    tier,
    keys.serviceModelKey,
    keys.productTierKey,
    Object.keys(keys.components).join(", "),
  ]);
  const spellings = Object.entries(profile.fields);
  const facts = [
    ["profile", profile.name],
    ["platform", profile.platformUrl ?? "set by you"],
    ["session", `sent as ${profile.session.send}`],
    ["updates", `${profile.operations["instance.update"]?.method ?? "-"}`],
    [
      "instance types",
      Object.entries(profile.instanceTypes)
        .map(([provider, types]) => `${provider} ${Object.keys(types).length}`)
        .join(", "),
    ],
    ["not offered", notOffered(profile).join(", ") || "-"],
  ];
  terminal.out(tableText(["property", "value"], facts, terminal));
  terminal.out(`\n${tableText(["tier", "model key", "tier key", "components"], tiers, terminal)}`);
  terminal.out(`\n${tableText(["operation", "method", "path"], operations, terminal)}`);
  if (spellings.length > 0) terminal.out(`\n${tableText(["field", "spelled"], spellings, terminal)}`);
  return exitCodes.done;
}

const optional = [
  "instance.list-all",
  "network.list",
  "network.create",
  "network.delete",
  "user.update",
  "user.delete",
  "snapshot.copy",
  "account.describe",
];

function notOffered(profile: Profile): readonly string[] {
  return optional.filter((operation) => profile.operations[operation] === undefined);
}

function plain(value: unknown): Json {
  if (Array.isArray(value)) return value.map(plain);
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}
