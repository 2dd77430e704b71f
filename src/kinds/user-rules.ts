/** @module Checks names, passwords and uniqueness of database users. */
import { type AclRule, aclRules } from "../model/acl.ts";
import type { Desired } from "../model/desired.ts";
import type { Finding, RuleContext } from "../model/kind.ts";
import { perObject } from "../model/once.ts";
import { firstOf } from "../model/quantity.ts";
import { isSealed, isTemplate } from "../model/sealed.ts";
import { findings, type Remark, remark, resourceAt } from "./remarks.ts";

export function checkUser(desired: Desired, context: RuleContext): readonly Finding[] {
  return findings(desired, context, [
    ...lengths(desired, context),
    ...aclRefusals(desired, context),
    ...twice(desired, context),
  ]);
}

function lengths(desired: Desired, context: RuleContext): readonly Remark[] {
  const { usernameMin, passwordMin } = context.profile.users;
  const { username, password } = desired.spec;
  const remarks: Remark[] = [];
  if (typeof username === "string" && username !== "" && lengthOf(username) < usernameMin) {
    const message = `username is ${JSON.stringify(username)}, and must have at least ${usernameMin} characters`;
    remarks.push(remark("too-short", "username", message, "take a longer name"));
  }
  const opened = isSealed(password) ? context.open(password) : undefined;
  if (opened !== undefined && lengthOf(opened) < passwordMin) {
    const message = `password must have at least ${passwordMin} characters`;
    remarks.push(remark("too-short", "password", message, "take a longer password where the secret is kept"));
  }
  return remarks;
}

function lengthOf(text: string): number {
  return [...text].length;
}

function twice(desired: Desired, context: RuleContext): readonly Remark[] {
  const { instance, username } = desired.spec;
  if (typeof instance !== "string" || typeof username !== "string") return [];
  const duplicate = (message: string, hint: string): readonly Remark[] => [
    remark("duplicate-user", "username", message, hint),
  ];
  const [first, name] = [firstByName(context.all).get(nameOn(instance, username)), JSON.stringify(username)];
  if (first !== undefined && first !== desired.address)
    return duplicate(
      `${first} is called ${name} on the same instance`,
      "give each its own name, or remove one of the two",
    );
  const owner = resourceAt(context, `instances.${instance}`);
  return owner?.spec["config.graphdbUser"] === username
    ? duplicate(
        `${name} is the first user of ${owner.address}, its graphdbUser`,
        "take another name; the first user is kept by its instance",
      )
    : [];
}

/** Instance and user name -> the first address that has both. */
const firstByName = perObject((all: readonly Desired[]): ReadonlyMap<string, string> => {
  const names = new Map<string, string>();
  for (const { kind, spec, address } of all) {
    const { instance, username } = spec;
    if (kind !== "users" || typeof instance !== "string" || typeof username !== "string") continue;
    const name = nameOn(instance, username);
    if (!names.has(name)) names.set(name, address);
  }
  return names;
});

function nameOn(instance: string, username: string): string {
  return JSON.stringify([instance, username]);
}

/** Findings on access rules: the service looks at grants alone, and stores the rest as it stands, also a password. */
function aclRefusals(desired: Desired, context: RuleContext): readonly Remark[] {
  const { acl } = desired.spec;
  // Outputs that a text waits for are not known, and are no rules.
  const text = isTemplate(acl)
    ? acl.$template.map((part) => (typeof part === "string" ? part : "x")).join("")
    : acl;
  if (typeof text !== "string") return [];
  const all = aclRules(text);
  return [...commands(all, context), ...misplaced(all)];
}

/** The service's list knows commands, and single subcommands as COMMAND|SUB. */
function commands(all: readonly AclRule[], context: RuleContext): readonly Remark[] {
  const allowed = new Set(context.profile.users.commands.map((command) => command.toUpperCase()));
  if (allowed.size === 0) return [];
  const granted = all.flatMap(({ is, text }) => (is === "grant" ? [text.slice(1).toUpperCase()] : []));
  const refused = granted.filter(
    (command) =>
      !allowed.has(command) && !(command.includes("|") && allowed.has(command.split("|")[0] ?? "")),
  );
  const [first] = refused;
  if (first === undefined) return [];
  const message = `acl grants what the service does not allow: ${listOf(refused.map((command) => `+${command}`))}`;
  const hint = first.startsWith("@")
    ? "grant single commands instead of categories"
    : context.suggest(first, [...allowed]);
  return [remark("acl-command", "acl", message, hint)];
}

/** The remark on a word that is neither a key pattern nor a command. No part of a password is repeated in it. */
function misplaced(all: readonly AclRule[]): readonly Remark[] {
  const byMessage = new Map<string, { readonly hint: string; readonly at: number[] }>();
  for (const [index, rule] of all.entries()) {
    const [message, hint] = misplacedWords(rule) ?? [];
    if (message === undefined || hint === undefined) continue;
    const known = byMessage.get(message) ?? { hint, at: [] };
    byMessage.set(message, known);
    known.at.push(index + 1);
  }
  return [...byMessage].map(([message, { hint, at }]) =>
    remark("acl-rule", "acl", `${message} (rule ${listOf(at.map(String))})`, hint),
  );
}

function misplacedWords({ is, text }: AclRule): readonly [message: string, hint: string] | undefined {
  const word = text.toLowerCase();
  const remarks: { readonly [is in AclRule["is"]]?: readonly [message: string, hint: string] } = {
    credential: ["acl holds a password", "write the password under password:, and nothing of it here"],
    channel: ["acl names a channel", "leave it out: a user is given keys and commands"],
    word: [`acl holds "${word}"`, wordHints[word] ?? "leave it out"],
    other: [
      "acl holds what is no rule",
      "write ~PATTERN, %R~PATTERN, %W~PATTERN, +COMMAND or -COMMAND; the password stands under password:",
    ],
  };
  return remarks[is];
}

const noPassword = "leave it out: a user has the password under password:";
const noCommands = "grant single commands: what is not granted is not allowed";

const wordHints: { readonly [word: string]: string } = {
  on: "leave it out: a user that is declared can log in",
  off: "remove the user to keep it from logging in",
  nopass: noPassword,
  resetpass: noPassword,
  allcommands: noCommands,
  nocommands: noCommands,
  allkeys: "write ~* for every key",
};

function listOf(texts: readonly string[]): string {
  return firstOf([...new Set(texts)], 20);
}
