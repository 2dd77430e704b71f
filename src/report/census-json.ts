/** @module Formats a census as JSON, and counts the databases that were asked. */
import { defined, type JsonObject } from "../model/json.ts";
import type { Census } from "../model/plan.ts";
import type { NotProbed } from "../model/probe-reading.ts";

type Probes = Pick<Census, "probed" | "logins" | "notProbed" | "engines">;

/** Number of things that were asked themselves, of all that there was reason to ask or not. */
export interface Asked {
  readonly asked: number;
  readonly all: number;
}

/** The databases that were asked, of all, and the same of logins of users; undefined if the run could ask none. */
export function probeCounts({
  probed,
  logins = 0,
  notProbed = [],
}: Probes): { readonly databases: Asked; readonly logins: Asked } | undefined {
  if (probed === undefined) return undefined;
  // A refusal is an answer: it is among those that were asked.
  const without = notProbed.filter(({ refused }) => refused !== true);
  const missing = without.filter(({ login }) => login === true).length;
  return {
    databases: { asked: probed, all: probed + without.length - missing },
    logins: { asked: logins, all: logins + missing },
  };
}

/** A tenant may run no command of ACL, and to try a command that is not allowed would stand in the database's log as an attack. */
export const rulesUnchecked =
  "compared with those that the service keeps; not checked in the database, which shows them to no user";

/** The figures of `probeCounts` by name, for formats that have room for no more. */
export function probeFigures(census: Probes): { readonly [name: string]: number } {
  const counts = probeCounts(census);
  if (counts === undefined) return {};
  const { databases, logins } = counts;
  return {
    "databases.asked": databases.asked,
    "databases.all": databases.all,
    "logins.asked": logins.asked,
    "logins.all": logins.all,
    "accessRules.notCheckedInDatabase": logins.all,
  };
}

/** The members of a census that plans and drift reports share. */
export function censusJson(census: Census): JsonObject {
  const { declared, checked, skipped, unmanaged, fields, partialLists } = census;
  return {
    ...{ declared, checked, skipped, unmanaged, fields: { ...fields } },
    ...probesJson(census),
    ...defined({ partial_lists: partialLists }),
  };
}

function probesJson(census: Probes): JsonObject {
  const counts = probeCounts(census);
  if (counts === undefined) return {};
  const { notProbed = [], engines = {} } = census;
  const entry = ({ address, reason, wayOut, login }: NotProbed): JsonObject => ({
    ...{ address, login: login === true, reason },
    ...defined({ way_out: wayOut }),
  });
  const refused = notProbed.filter((one) => one.refused === true);
  const others = notProbed.filter((one) => one.refused !== true);
  return {
    probed: counts.databases.asked,
    databases: { ...counts.databases },
    logins: { ...counts.logins },
    access_rules: { not_checked_in_database: counts.logins.all, reason: rulesUnchecked },
    not_probed: others.map((one) => ({ ...entry(one), failed: one.failed === true })),
    ...(refused.length === 0 ? {} : { refused_logins: refused.map(entry) }),
    engines: { ...engines },
  };
}
