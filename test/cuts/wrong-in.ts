import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/model/json.ts";
import { readState } from "../../src/state/read-state.ts";
import type { Declared } from "./manifests.ts";

/** The passwords that are declared: every database and user begins with the first. */
export const passwords: { readonly [which in "first" | "second"]: string } = {
  first: "a-long-password",
  second: "another-password",
};

/** What is doubled, left behind, forgotten, taken for another, or not as it was declared, in a folder after an apply. */
export function wrongIn(dir: string, { count, renewed }: Declared): readonly string[] {
  const there = thingsIn(join(dir, "platform", "control"));
  const { resources, intents } = stateIn(dir);
  const bound = new Map(Object.entries(resources).map(([address, { id }]) => [address, id]));
  const ids = [...bound.values()];
  const wrong: string[] = [];
  for (const id of there.keys())
    if (!ids.includes(id)) wrong.push(`${id} is there, and nothing is bound to it`);
  for (const [address, id] of bound) {
    const thing = there.get(id);
    if (thing === undefined) wrong.push(`${id} is bound to ${address}, and not there`);
    if (thing?.name !== undefined && thing.name !== nameOf(address))
      wrong.push(`${id} is bound to ${address}, and was created as ${thing.name}`);
    const password = passwords[renewed.includes(address) ? "second" : "first"];
    if (thing?.hash !== undefined && thing.hash !== hashOf(password))
      wrong.push(`the password of ${address} is not the one that is declared`);
  }
  if (new Set(ids).size < ids.length) wrong.push("two addresses are bound to one object");
  if (ids.length !== count) wrong.push(`${ids.length} are bound`);
  for (const address of Object.keys(intents)) wrong.push(`the intent of ${address} is open`);
  return wrong;
}

/** The ids of everything that the service of a folder has. */
export function idsIn(dir: string): readonly string[] {
  return [...thingsIn(join(dir, "platform", "control")).keys()];
}

/** What the state of a folder binds an address to. */
export function boundTo(dir: string, address: string): string | undefined {
  return stateIn(dir).resources[address]?.id;
}

/** The files of a program's own folder that hold a password. */
export function secretsIn(dir: string): readonly string[] {
  const own = join(dir, ".graphform");
  const entries = existsSync(own) ? readdirSync(own, { recursive: true, withFileTypes: true }) : [];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => {
      const text = readFileSync(file, "utf8");
      return Object.values(passwords).some((password) => text.includes(password));
    });
}

/** Databases are named after their addresses. */
function nameOf(address: string): string {
  return address.replace(/^instances\./, "").replace(/\["(.*)"\]$/, "-$1");
}

/** What the service has, by its own records. */
interface Thing {
  /** The name that a database was given; nothing shows it where the service does not echo. */
  readonly name?: string;
  /** Of its password. */
  readonly hash?: string;
}

interface StoredInstance {
  readonly id: string;
  readonly isAccount: boolean;
  readonly params: JsonObject;
  readonly users: readonly { readonly username: string; readonly passwordHash: string }[];
}

function thingsIn(control: string): ReadonlyMap<string, Thing> {
  const instances = recordsIn<StoredInstance>(join(control, "instances")).flatMap(
    ({ id, isAccount, params, users }): [string, Thing][] => [
      [
        id,
        isAccount ? {} : { name: String(params["name"]), hash: hashOf(String(params["graphdbPassword"])) },
      ],
      ...users.map(({ username, passwordHash }): [string, Thing] => [
        `${id}/${username}`,
        { hash: passwordHash },
      ]),
    ],
  );
  const networks = recordsIn<{ readonly id: string }>(join(control, "networks"));
  return new Map([...instances, ...networks.map(({ id }): [string, Thing] => [id, {}])]);
}

function recordsIn<T>(folder: string): readonly T[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .map((file): T => JSON.parse(readFileSync(join(folder, file), "utf8")));
}

interface State {
  readonly resources: { readonly [address: string]: { readonly id: string } };
  readonly intents: { readonly [address: string]: unknown };
}

/** Before anything is written there is none. */
function stateIn(dir: string): State {
  const file = join(dir, ".graphform", "cut.state.json");
  if (!existsSync(file)) return { resources: {}, intents: {} };
  const document = readFileSync(file, "utf8");
  const log = existsSync(`${file}.log`) ? readFileSync(`${file}.log`, "utf8") : undefined;
  return readState(document, file, "cut", log);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
