/** @module Formats which running databases were asked, and why others were not. */
import { defined, type JsonObject } from "../model/json.ts";
import type { Census } from "../model/plan.ts";
import { type NotProbed, notAskedFor } from "../model/probe-reading.ts";
import { escapeText } from "./escape.ts";
import { wrapIndented } from "./text-width.ts";
import { amount } from "./words.ts";

type Probes = Pick<Census, "probed" | "logins" | "notProbed" | "engines">;

/** Number of things that were asked themselves, of all that there was reason to ask or not. */
export interface Asked {
  readonly asked: number;
  readonly all: number;
}

/** The databases that were asked, of all, and the same of logins of users; undefined where the run could ask none. */
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

/**
 * The databases that were asked, the logins that were tried, and a text for each reason why others were not, with the way out, escaped;
 * empty where there was none to ask.
 */
export function probeTexts(census: Probes): readonly string[] {
  const counts = probeCounts(census);
  if (counts === undefined) return [];
  const { databases, logins } = counts;
  const { notProbed = [] } = census;
  if (databases.all + logins.all === 0) return [];
  if (databases.asked + logins.asked === 0 && notProbed.every(({ reason }) => reason === notAskedFor))
    return [`databases: none of ${databases.all} asked (${notAskedFor})`];
  const refused = notProbed.filter((entry) => entry.refused === true);
  const others = notProbed.filter((entry) => entry.refused !== true);
  const failed = others.filter((entry) => entry.failed === true);
  const unasked = others.filter((entry) => entry.failed !== true);
  return [
    [
      ...(databases.all === 0 ? [] : [`databases: ${databases.asked} of ${databases.all} asked`]),
      ...(logins.all === 0 ? [] : [`logins of users: ${logins.asked} of ${logins.all} tried`]),
    ].join("; "),
    ...reasonTexts("login refused:", refused),
    ...reasonTexts("no answer from", failed),
    ...reasonTexts("not asked:", unasked),
    ...(logins.all === 0 ? [] : [`access rules of ${amount(logins.all, "user")}: ${rulesUnchecked}`]),
  ];
}

/** A tenant may run no command of ACL, and to try a command that is not allowed would stand in the database's log as an attack. */
const rulesUnchecked =
  "compared with those that the service keeps; not checked in the database, which shows them to no user";

/** A text for each reason, with the first `named` addresses that it is the reason of; the others are counted. Escaped. */
export function reasonTexts(
  what: string,
  list: readonly Pick<NotProbed, "address" | "reason" | "wayOut">[],
  named = 3,
): readonly string[] {
  const reasons = [...Map.groupBy(list, ({ reason }) => reason)].sort(([a], [b]) => (a < b ? -1 : 1));
  return reasons.map(([reason, found]) => {
    const addresses = found.slice(0, named).map(({ address }) => escapeText(address, 100));
    const rest = found.length - addresses.length;
    const who = `${addresses.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
    const way = found[0]?.wayOut;
    return `${what} ${who}: ${escapeText(reason, 300)}${way === undefined ? "" : ` (${escapeText(way, 300)})`}`;
  });
}

/** Says why a report is incomplete, without its full stop. */
export function incompleteText(
  { notProbed = [], partialLists = [], skipped, declared }: Census,
  unread = 0,
): string {
  const failures = notProbed.filter(({ failed }) => failed === true);
  const silent = failures.filter(({ refused }) => refused !== true);
  const refusing = failures.length - silent.length;
  const logins = silent.filter(({ login }) => login === true).length;
  const databases = silent.length - logins;
  const left = skipped - unread;
  return [
    ...(unread === 0
      ? []
      : [`${amount(unread, "resource")} or ${unread === 1 ? "list" : "lists"} could not be read`]),
    ...(silent.length === 0
      ? []
      : [
          `${[
            ...(databases === 0 ? [] : [amount(databases, "database")]),
            ...(logins === 0 ? [] : [amount(logins, "login")]),
          ].join(" and ")} gave no answer`,
        ]),
    ...(refusing === 0
      ? []
      : [
          `${amount(refusing, "database")} ${refusing === 1 ? "refuses its" : "refuse their"} declared password`,
        ]),
    ...(partialLists.length === 0
      ? []
      : [
          `${amount(partialLists.length, "list")} of the service ${partialLists.length === 1 ? "shows" : "show"} a part only`,
        ]),
    ...(left <= 0 && unread + failures.length + partialLists.length > 0
      ? []
      : [`--target or --exclude left out ${left} of ${declared} declared`]),
  ].join("; ");
}

/** The same as lines of a census. */
export function probeLines(census: Probes, width: number): readonly string[] {
  return probeTexts(census).flatMap((text) => wrapIndented("          ", text, width));
}

/** The same as figures by name, for formats that have room for no more; empty where the run could ask none. */
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

/** The same as members of a census in JSON. */
export function probesJson(census: Probes): JsonObject {
  const counts = probeCounts(census);
  if (counts === undefined) return {};
  const { notProbed = [], engines = {} } = census;
  const entry = ({ address, reason, wayOut, login }: NotProbed): JsonObject => ({
    address,
    login: login === true,
    reason,
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
