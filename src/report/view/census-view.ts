/** @module Describes the observation behind a report, in words and as JSON: checked resources, sources of values, databases that were asked. */
import type { DriftReport } from "../../model/drift.ts";
import { defined, type JsonObject } from "../../model/json.ts";
import type { Source } from "../../model/observed.ts";
import type { Census } from "../../model/plan.ts";
import { type NotProbed, notAskedFor } from "../../model/probe.ts";
import { firstOf } from "../../model/quantity.ts";
import { amount, sourceMeaning, sourceWords } from "../words.ts";
import type { CensusView, CountView } from "./report-view.ts";

const sources: readonly Source[] = ["probed", "described", "echoed", "recorded"];

/** Partial lists that are named; the others are counted. */
const namedLists = 5;

export function censusView(census: Census): CensusView {
  const { declared, checked, skipped, unmanaged, fields, partialLists = [] } = census;
  const present = sources.filter((source) => fields[source] > 0);
  const count = (number: number, word: string): CountView => ({ count: number, word, tone: "quiet" });
  const lists = firstOf(partialLists, namedLists);
  return {
    resources: [
      count(declared, "declared"),
      count(checked, "checked"),
      ...(skipped === 0 ? [] : [count(skipped, "skipped")]),
      count(unmanaged, `unmanaged${partialLists.length === 0 ? "" : ", possibly more"}`),
    ],
    values: present.map((source) => count(fields[source], sourceWords[source])),
    meanings: present.flatMap((source) => {
      const meaning = source === "probed" ? undefined : sourceMeaning[source];
      const word = sourceWords[source];
      return meaning === undefined ? [] : [`${word.charAt(0).toUpperCase()}${word.slice(1)}: ${meaning}.`];
    }),
    notes: [
      ...probeTexts(census),
      ...(lists === ""
        ? []
        : [`possibly more than the service lists: ${lists}; what it leaves out may be there already`]),
    ],
    unsure: [],
  };
}

/** The databases that were asked, the logins that were tried, and a text for each reason why others were not, with the remedy. */
function probeTexts(census: Census): readonly string[] {
  const counts = probeCounts(census);
  if (counts === undefined) return [];
  const { databases, logins } = counts;
  const { notProbed = [] } = census;
  if (databases.all + logins.all === 0) return [];
  if (databases.asked + logins.asked === 0 && notProbed.every(({ reason }) => reason === notAskedFor))
    return [`databases: none of ${databases.all} asked (${notAskedFor})`];
  const why = Map.groupBy(notProbed, ({ refused, failed }) =>
    refused === true ? "login refused:" : failed === true ? "no answer from" : "not asked:",
  );
  return [
    [
      ...(databases.all === 0 ? [] : [`databases: ${databases.asked} of ${databases.all} asked`]),
      ...(logins.all === 0 ? [] : [`logins of users: ${logins.asked} of ${logins.all} tried`]),
    ].join("; "),
    ...(["login refused:", "no answer from", "not asked:"] as const).flatMap((words) =>
      reasonTexts(words, why.get(words) ?? []),
    ),
    ...(logins.all === 0 ? [] : [`access rules of ${amount(logins.all, "user")}: ${rulesUnchecked}`]),
  ];
}

/** A text for each reason, with the first `named` addresses that it is the reason of; the others are counted. */
export function reasonTexts(
  what: string,
  list: readonly Pick<NotProbed, "address" | "reason" | "wayOut">[],
  named = 3,
): readonly string[] {
  const reasons = [...Map.groupBy(list, ({ reason }) => reason)].sort(([a], [b]) => (a < b ? -1 : 1));
  return reasons.map(([reason, found]) => {
    const addresses = found.map(({ address }) => address);
    const remedy = found[0]?.wayOut;
    return `${what} ${firstOf(addresses, named)}: ${reason}${remedy === undefined ? "" : ` (${remedy})`}`;
  });
}

/** The reasons why a report is incomplete, without a full stop. */
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
  const rest = declared === 0 ? amount(left, "resource") : `${left} of ${declared} declared`;
  const part = (count: number, text: string): readonly string[] => (count === 0 ? [] : [text]);
  const asked = [
    ...part(databases, amount(databases, "database")),
    ...part(logins, amount(logins, "login")),
  ].join(" and ");
  const refuse = refusing === 1 ? "refuses its" : "refuse their";
  const show = partialLists.length === 1 ? "shows" : "show";
  return [
    ...part(unread, `${amount(unread, "resource")} or ${unread === 1 ? "list" : "lists"} could not be read`),
    ...part(silent.length, `${asked} gave no answer`),
    ...part(refusing, `${amount(refusing, "database")} ${refuse} declared password`),
    ...part(partialLists.length, `${amount(partialLists.length, "list")} of the service ${show} a part only`),
    ...(left <= 0 && unread + failures.length + partialLists.length > 0
      ? []
      : [`--target or --exclude left out ${left > 0 ? rest : "what is not declared"}`]),
  ].join("; ");
}

type Unseen = Pick<NotProbed, "address" | "reason">;

/** Lists of which the service shows a part only, each with the consequence. */
export function partialListsIn({ census }: Pick<DriftReport<unknown>, "census">): readonly Unseen[] {
  const reason = "the service has possibly more than it lists: undeclared objects there are not known";
  return (census.partialLists ?? []).map((address) => ({ address, reason }));
}

/** Resources that could not be read, those whose running database gave no answer, and partial lists, each with the reason. */
export function unseenIn({ census }: Pick<DriftReport<unknown>, "census">): readonly Unseen[] {
  const silent = (census.notProbed ?? []).filter(({ failed }) => failed === true);
  return [
    ...census.notChecked
      .filter(({ failed }) => failed === true)
      .map(({ address, reason }) => ({ address, reason })),
    ...silent.map(({ address, reason, wayOut, login, refused }) => {
      const what = login === true ? "its login could not be checked" : "its database gave no answer";
      const remedy = wayOut === undefined ? "" : ` (${wayOut})`;
      return { address, reason: `${refused === true ? "" : `${what}: `}${reason}${remedy}` };
    }),
    ...partialListsIn({ census }),
  ];
}

/** Number of things that were asked themselves, of all that there was reason to ask or not. */
export interface Asked {
  readonly asked: number;
  readonly all: number;
}

/** The databases that were asked, of all, and the same of logins of users; undefined if the run could ask none. */
export function probeCounts(census: Census): Readonly<Record<"databases" | "logins", Asked>> | undefined {
  const { probed, logins = 0, notProbed = [] } = census;
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
const rulesUnchecked =
  "compared with those that the service keeps; not checked in the database, which shows them to no user";

/** The figures of `probeCounts` by name, for formats that have room for no more. */
export function probeFigures(census: Census): { readonly [name: string]: number } {
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
  const { declared, checked, skipped, unmanaged, fields, partialLists, notProbed = [], engines } = census;
  const all = {
    ...{ declared, checked, skipped, unmanaged, fields: { ...fields } },
    ...defined({ partial_lists: partialLists }),
  };
  const counts = probeCounts(census);
  if (counts === undefined) return all;
  const entry = ({ address, reason, wayOut, login }: NotProbed): JsonObject => ({
    ...{ address, login: login === true, reason },
    ...defined({ way_out: wayOut }),
  });
  const refused = notProbed.filter((one) => one.refused === true);
  const others = notProbed.filter((one) => one.refused !== true);
  return {
    ...all,
    probed: counts.databases.asked,
    databases: { ...counts.databases },
    logins: { ...counts.logins },
    access_rules: { not_checked_in_database: counts.logins.all, reason: rulesUnchecked },
    not_probed: others.map((one) => ({ ...entry(one), failed: one.failed === true })),
    ...(refused.length === 0 ? {} : { refused_logins: refused.map(entry) }),
    engines: { ...engines },
  };
}
