import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { parse } from "yaml";
import type { WireRequest, WireResponse } from "../../src/hosting/wire/transport.ts";
import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";

/** One host's published API. */
export interface Contract {
  /** Operation ids that the document has. */
  readonly operations: readonly string[];
  /** The operation that a request is of; undefined where the document has none. */
  operationOf(method: string, path: string): string | undefined;
  /** What of a request the document does not allow; empty where it is right. */
  requestFaults(request: Pick<WireRequest, "method" | "path" | "headers" | "body">): readonly string[];
  /** What of an answer the document does not promise. */
  answerFaults(request: Pick<WireRequest, "method" | "path">, response: WireResponse): readonly string[];
}

/** An endpoint of the document: its template, split, and the JSON pointer to it. */
interface Found {
  readonly operation: JsonObject;
  readonly pointer: string;
  readonly parts: ReadonlyMap<string, string>;
}

/** Reads an OpenAPI 3.1 document that stands beside this file. */
export function readContract(file: string): Contract {
  const document: JsonObject = parse(readFileSync(new URL(file, import.meta.url), "utf8"));
  const formats = { uuid: true, "date-time": true } as const;
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats });
  ajv.addSchema({ $id: file, ...document });
  const validators = new Map<string, ValidateFunction>();
  const faultsOf = (pointer: string, value: Json, where: string): readonly string[] => {
    const validate = validators.get(pointer) ?? ajv.compile({ $ref: `${file}#${pointer}` });
    validators.set(pointer, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${where}${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };
  /** Follows `$ref`: the object, and the pointer to where it really stands. */
  const resolved = (value: Json | undefined, pointer: string): readonly [JsonObject, string] => {
    if (!isObject(value)) return [{}, pointer];
    const { $ref } = value;
    if (typeof $ref !== "string") return [value, pointer];
    const keys = $ref.split("/").slice(1);
    const target = keys.reduce<Json | undefined>((at, key) => (isObject(at) ? at[key] : undefined), document);
    if (target === undefined) throw new Error(`${file}: ${$ref} leads nowhere`);
    return resolved(target, `/${keys.join("/")}`);
  };
  const paths = isObject(document["paths"]) ? document["paths"] : {};
  const find = (method: string, path: string): Found | undefined => {
    const segments = path.split("/");
    const fitting = Object.entries(paths).flatMap(([template, item]): readonly Found[] => {
      const operation = isObject(item) ? item[method.toLowerCase()] : undefined;
      const parts = partsOf(template.split("/"), segments);
      if (!isObject(operation) || parts === undefined) return [];
      return [{ operation, parts, pointer: `/paths/${escaped(template)}/${method.toLowerCase()}` }];
    });
    // A literal path before one with parameters.
    return fitting.sort((left, right) => left.parts.size - right.parts.size)[0];
  };
  const parametersOf = ({ operation, pointer }: Found): readonly (readonly [JsonObject, string])[] => {
    const listed = Array.isArray(operation["parameters"]) ? operation["parameters"] : [];
    return listed.map((entry: Json, at: number) => resolved(entry, `${pointer}/parameters/${at}`));
  };
  const securityOf = ({ operation }: Found): readonly string[] => {
    const security = operation["security"] ?? document["security"];
    return Array.isArray(security) ? security.filter(isObject).flatMap((entry) => Object.keys(entry)) : [];
  };

  const bodyFaults = (
    found: Found,
    headers: WireRequest["headers"],
    body: string | undefined,
  ): readonly string[] => {
    const wanted = found.operation["requestBody"];
    const [requestBody, pointer] = resolved(wanted, `${found.pointer}/requestBody`);
    if (body === undefined) return requestBody["required"] === true ? ["the body is missing"] : [];
    if (wanted === undefined) return ["a body is sent, and none is wanted"];
    const type = headers["content-type"];
    const faults = type === "application/json" ? [] : [`content-type is ${type}`];
    return [...faults, ...faultsOf(`${pointer}/content/application~1json/schema`, JSON.parse(body), "body")];
  };

  return {
    operations: Object.values(paths)
      .flatMap((item) => (isObject(item) ? Object.values(item).filter(isObject) : []))
      .map(({ operationId }) => String(operationId)),
    operationOf: (method, path) => {
      const id = find(method, path.split("?")[0] ?? "")?.operation["operationId"];
      return typeof id === "string" ? id : undefined;
    },
    requestFaults({ method, path: whole, headers, body }) {
      const [path = "", query = ""] = whole.split("?");
      const found = find(method, path);
      if (found === undefined) return [`${method} ${path} is in no document`];
      const parameters = parametersOf(found);
      const given = new URLSearchParams(query);
      const known = parameters
        .filter(([parameter]) => parameter["in"] === "query")
        .map(([parameter]) => String(parameter["name"]));
      const faults = [...given.keys()]
        .filter((name) => !known.includes(name))
        .map((name) => `query ${name} is not known`);
      for (const [parameter, pointer] of parameters) {
        const name = String(parameter["name"]);
        const value =
          parameter["in"] === "query"
            ? given.get(name)
            : parameter["in"] === "header"
              ? (headers[name.toLowerCase()] ?? null)
              : decodeURIComponent(found.parts.get(name) ?? "");
        if (value !== null)
          faults.push(...faultsOf(`${pointer}/schema`, value, `${String(parameter["in"])} ${name}`));
        else if (parameter["required"] === true) faults.push(`query ${name} is missing`);
      }
      faults.push(...credentialFaults(headers, securityOf(found)));
      faults.push(...bodyFaults(found, headers, body));
      return faults;
    },
    answerFaults({ method, path: whole }, { status, headers, body }) {
      const found = find(method, whole.split("?")[0] ?? "");
      if (found === undefined) return [`${method} ${whole} is in no document`];
      const responses = isObject(found.operation["responses"]) ? found.operation["responses"] : {};
      const key = Object.hasOwn(responses, String(status)) ? String(status) : "default";
      if (key === "default" && status < 400) return [`status ${status} is not promised`];
      const [response, pointer] = resolved(responses[key], `${found.pointer}/responses/${key}`);
      const content = isObject(response["content"]) ? Object.keys(response["content"])[0] : undefined;
      if (content === undefined)
        return body === "" || body === "{}"
          ? []
          : [`a body is answered, and none is promised: ${body.slice(0, 80)}`];
      const type = String(headers["content-type"] ?? "").split(";")[0];
      const faults = type === content ? [] : [`content-type is ${type}, and ${content} is promised`];
      return [
        ...faults,
        ...faultsOf(`${pointer}/content/${escaped(content)}/schema`, JSON.parse(body), "body"),
      ];
    },
  };
}

function escaped(key: string): string {
  return encodeURI(key.replaceAll("~", "~0").replaceAll("/", "~1"));
}

function partsOf(
  template: readonly string[],
  segments: readonly string[],
): ReadonlyMap<string, string> | undefined {
  if (template.length !== segments.length) return undefined;
  const parts = new Map<string, string>();
  for (const [at, part] of template.entries()) {
    const segment = segments[at] ?? "";
    const name = /^\{(.+)\}$/.exec(part)?.[1];
    if (name === undefined && part !== segment) return undefined;
    if (name !== undefined) parts.set(name, segment);
  }
  return parts;
}

function credentialFaults(headers: WireRequest["headers"], wanted: readonly string[]): readonly string[] {
  const scheme = (headers["authorization"] ?? "").split(" ")[0]?.toLowerCase() ?? "";
  if (wanted.length === 0)
    return scheme === "" && headers["cookie"] === undefined
      ? []
      : ["credentials are sent, and none are wanted"];
  return wanted.includes(scheme)
    ? []
    : [`authorization is "${scheme}", and ${wanted.join(" or ")} is wanted`];
}
