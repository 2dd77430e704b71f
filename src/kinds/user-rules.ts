/** @module Checks names, passwords and uniqueness of database users. */
import type { Desired } from "../model/desired.ts";
import type { Finding, RuleContext } from "../model/kind.ts";
import { isSealed } from "../model/sealed.ts";
import { findings, resourceAt, type Said } from "./rule-tools.ts";
import { aclRefusals } from "./user-acl.ts";

/** Findings on a user: name and password as the profile's `users` rules ask, and one user of a name in an instance. */
export function checkUser(desired: Desired, context: RuleContext): readonly Finding[] {
  return findings(desired, context, [
    ...lengths(desired, context),
    ...aclRefusals(desired, context),
    ...twice(desired, context),
  ]);
}

function lengths(desired: Desired, context: RuleContext): readonly Said[] {
  const { usernameMin, passwordMin } = context.profile.users;
  const { username, password } = desired.spec;
  const said: Said[] = [];
  if (typeof username === "string" && username !== "" && lengthOf(username) < usernameMin) {
    const message = `username is ${JSON.stringify(username)}, and must have at least ${usernameMin} characters`;
    said.push({ code: "too-short", path: "username", message, hint: "take a longer name" });
  }
  const opened = isSealed(password) ? context.open(password) : undefined;
  if (opened !== undefined && lengthOf(opened) < passwordMin) {
    const message = `password must have at least ${passwordMin} characters`;
    said.push({
      code: "too-short",
      path: "password",
      message,
      hint: "take a longer password where the secret is kept",
    });
  }
  return said;
}

function lengthOf(text: string): number {
  return [...text].length;
}

function twice(desired: Desired, context: RuleContext): readonly Said[] {
  const { instance, username } = desired.spec;
  if (typeof instance !== "string" || typeof username !== "string") return [];
  const first = firstByName(context).get(nameOn(instance, username));
  if (first !== undefined && first !== desired.address) {
    const message = `${first} is called ${JSON.stringify(username)} on the same instance`;
    return [
      {
        code: "duplicate-user",
        path: "username",
        message,
        hint: "give each its own name, or remove one of the two",
      },
    ];
  }
  const owner = resourceAt(context, `instances.${instance}`);
  if (owner === undefined || owner.spec["config.graphdbUser"] !== username) return [];
  const message = `${JSON.stringify(username)} is the first user of ${owner.address}, its graphdbUser`;
  return [
    {
      code: "duplicate-user",
      path: "username",
      message,
      hint: "take another name; the first user is kept by its instance",
    },
  ];
}

/** Instance and user name -> the first address that has both; made once for all users of a manifest. */
function firstByName(context: RuleContext): ReadonlyMap<string, string> {
  const known = namesOf.get(context.all);
  if (known !== undefined) return known;
  const names = new Map<string, string>();
  for (const { kind, spec, address } of context.all) {
    const { instance, username } = spec;
    if (kind !== "users" || typeof instance !== "string" || typeof username !== "string") continue;
    const name = nameOn(instance, username);
    if (!names.has(name)) names.set(name, address);
  }
  namesOf.set(context.all, names);
  return names;
}

const namesOf = new WeakMap<readonly Desired[], ReadonlyMap<string, string>>();

function nameOn(instance: string, username: string): string {
  return JSON.stringify([instance, username]);
}
