/** A cookie as Set-Cookie brings it. */
export interface Cookie {
  readonly value: string;
  /** Ms, where it says. */
  readonly maxAge?: number;
}

/** The cookies of an answer, by name. What is not of the form name=value is passed over. */
export function parseCookies(header: string | readonly string[] | undefined): ReadonlyMap<string, Cookie> {
  const lines = header === undefined ? [] : typeof header === "string" ? [header] : header;
  return new Map(lines.flatMap((line): [string, Cookie][] => {
    const [pair = "", ...attributes] = line.split(";");
    const at = pair.indexOf("=");
    const value = pair.slice(at + 1).trim();
    if (at < 1 || value === "") return [];
    const maxAge = attributes.map((entry) => /^\s*max-age=(\d+)\s*$/i.exec(entry)?.[1]).find((found) => found !== undefined);
    return [[pair.slice(0, at).trim(), { value, ...(maxAge === undefined ? {} : { maxAge: Number(maxAge) * 1000 }) }]];
  }));
}
