import { isObject, type Json } from "../../model/json.ts";

/** Secret values that the platform has seen, so that none of them is ever written to its log. */
export interface KnownSecrets {
  add(value: string): void;
  /** True for a text that is, as a whole, a secret or a session token. */
  has(text: string): boolean;
  /** The text with every secret inside it replaced. */
  redact(text: string): string;
}

/** Shorter ones would be found everywhere by chance. */
const shortest = 6;

/** A session token (JWT) in a text, and what begins like one; each stretch is looked at once, however it repeats itself. */
const stretch = /[A-Za-z0-9_.-]+/g;

/** The text without session tokens: three parts between dots, the first of which begins with the word for `{"`. */
function withoutTokens(text: string): string {
  if (!text.includes("eyJ")) return text;
  return text.replace(stretch, (word) => {
    const parts = word.split(".");
    const at = parts.findIndex(
      (part, index) =>
        part.length - part.indexOf("eyJ") >= 11 &&
        part.includes("eyJ") &&
        (parts[index + 1]?.length ?? 0) >= 8 &&
        (parts[index + 2]?.length ?? 0) >= 16,
    );
    const part = parts[at];
    if (part === undefined) return word;
    const before = [...parts.slice(0, at), part.slice(0, part.indexOf("eyJ"))].join(".");
    return [`${before}[redacted]`, ...parts.slice(at + 3)].join(".");
  });
}

export function createKnownSecrets(): KnownSecrets {
  const values = new Set<string>();
  return {
    add(value) {
      if (value.length >= shortest) values.add(value);
    },
    has: (text) => values.has(text) || withoutTokens(text) !== text,
    redact(text) {
      let clean = withoutTokens(text);
      for (const value of values) if (clean.includes(value)) clean = clean.replaceAll(value, "[redacted]");
      return clean;
    },
  };
}

const secretKey = /pass|secret|token|credential|authorization/i;

/** Strings under keys that are made for secrets: what a request rightly carries. */
export function secretsIn(body: Json): readonly string[] {
  if (Array.isArray(body)) return body.flatMap(secretsIn);
  if (!isObject(body)) return [];
  return Object.entries(body).flatMap(([key, value]) =>
    secretKey.test(key) && typeof value === "string" ? [value] : secretsIn(value),
  );
}

/** An access rule after one of these signs is a password or its hash; the users host refuses it, and may have been sent it. */
function withoutPasswords(acl: string): string {
  return acl.replaceAll(/([<>#!])[^\s']+/g, "$1[redacted]");
}

/** A body fit for the log, and the places where a secret stands that is not made for one. */
export function redactBody(
  body: Json,
  secrets: KnownSecrets,
): { readonly body: Json; readonly misplaced: readonly string[] } {
  const misplaced: string[] = [];
  const clean = (value: Json, path: string): Json => {
    if (typeof value === "string") {
      const redacted = secrets.redact(value);
      if (redacted !== value) misplaced.push(path);
      return redacted;
    }
    if (Array.isArray(value)) return value.map((entry: Json, index) => clean(entry, `${path}[${index}]`));
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([key, entry]): [string, Json] => {
      const at = path === "" ? key : `${path}.${key}`;
      if (secretKey.test(key)) return [key, "[redacted]"];
      return [key, clean(key === "acl" && typeof entry === "string" ? withoutPasswords(entry) : entry, at)];
    });
    return Object.fromEntries(entries);
  };
  return { body: clean(body, ""), misplaced };
}
