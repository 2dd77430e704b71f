/** @module Defines the forms of the values that name a shared state: of a bucket, a key, a region, a host and a database. */
import { endpointRefusal, type Refusal, urlRefusal } from "./store-url.ts";

/** The form of a value. `is` completes "it must be". */
export interface Form {
  readonly pattern: RegExp;
  readonly is: string;
}

/** A key of the section that has a form. */
type StoreName = "bucket" | "region" | "host" | "database" | "schema" | "name" | "sslrootcert";

/** The forms, by the key of the manifest's `state` section. None has room for a password. */
export const storeForms: { readonly [key in StoreName]: Form } = {
  bucket: {
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/u,
    is: "2 to 255 letters, digits, dots, - and _",
  },
  region: { pattern: /^[a-z0-9-]{1,40}$/u, is: "a region like eu-central-1" },
  host: {
    pattern: /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}|[0-9A-Fa-f:.]{2,45}|\/[^\s@:=?#]{1,200})$/u,
    is: "a host name, an IP address, or the absolute path of the folder with the socket",
  },
  database: { pattern: /^[^\s@:=?#/]{1,63}$/u, is: "the name of a database, without spaces and @ : = ? # /" },
  schema: {
    pattern: /^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,62}$/u,
    is: "lower-case letters, digits and _, and none of PostgreSQL's own schemas",
  },
  name: { pattern: /^[^\s@:=?#]{1,200}$/u, is: "a name without spaces and @ : = ? #" },
  sslrootcert: {
    pattern: /^(?:system|\/.{1,1000}|[A-Za-z]:[\\/].{1,1000})$/u,
    is: "an absolute path, or system",
  },
};

/** The reason to refuse the key of a state in a bucket: a part that is empty or dots. */
export function keyRefusal(key: string): Refusal | undefined {
  const isOdd = key.split("/").some((part) => ["", ".", ".."].includes(part));
  if (isOdd || key.length > 900)
    return refusal("a key that cannot be one", "write it like teams/orders/production.json");
  return undefined;
}

/** The reason to refuse a key that another state may have for its lock. */
function lockRefusal(key: string): Refusal | undefined {
  if (!key.endsWith(".lock")) return undefined;
  const hint = "a lock is called KEY.lock: give the state another ending, like .json";
  return refusal("a key that ends in .lock", hint);
}

function refusal(what: string, hint: string): Refusal {
  return { code: "bad-format", message: `the state has ${what}`, hint };
}

/** The reason to refuse a value of the section beyond its form; undefined for one that is fine or that no rule is about. */
export function storeRefusal(key: string, value: string): Refusal | undefined {
  if (key === "endpoint") return endpointRefusal(value);
  if (key === "key") return keyRefusal(value) ?? lockRefusal(value);
  return ["address", "lockAddress", "unlockAddress"].includes(key) ? urlRefusal(value, key) : undefined;
}

/** The form that a value of the section does not have. */
export function formBroken(key: string, value: string): Form | undefined {
  const form = Object.entries(storeForms).find(([name]) => name === key)?.[1];
  return form === undefined || form.pattern.test(value) ? undefined : form;
}
