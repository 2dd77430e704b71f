/** @module Makes the OpenAPI 3.1 document from the table of endpoints. */
import { pathSchemas } from "./checks.ts";
import { components, ref } from "./documents.ts";
import type { Endpoint, Schema } from "./endpoint.ts";

/** The document that describes these endpoints. */
export function openApi(endpoints: readonly Endpoint[], version: string): Schema {
  const paths: { [path: string]: { [method: string]: Schema } } = {};
  for (const row of endpoints) {
    const item = paths[row.path] ?? {};
    paths[row.path] = item;
    item[row.method.toLowerCase()] = operation(row);
  }
  return {
    openapi: "3.1.0",
    info: { title: "graphform controller", version },
    paths,
    components: {
      schemas: components,
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        basic: { type: "http", scheme: "basic", description: "The token as the password of any user." },
      },
    },
  };
}

function operation(row: Endpoint): Schema {
  const { id, summary, role, scope, path, query = {}, body, answers, repeats, basic } = row;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: pathSchemas[name] ?? {},
  }));
  const inQuery = Object.entries(query).map(([name, schema]) => ({ name, in: "query", schema }));
  const key = {
    name: "Idempotency-Key",
    in: "header",
    schema: { type: "string", minLength: 1, maxLength: 255 },
  };
  const responses = Object.entries(answers).map(([status, answer]): readonly [string, Schema] => [
    status,
    { description: status === "202" ? "Asked for." : "Done.", ...contentOf(answer) },
  ]);
  const problem = {
    description: "A refusal.",
    content: { "application/problem+json": { schema: ref("Problem") } },
  };
  const needs = scope === "all" ? "for all tenants" : "for the tenant";
  return {
    operationId: id,
    summary,
    ...(role === "public"
      ? {}
      : { description: `Takes a token ${needs} with the role ${role} or one above it.` }),
    parameters: [...inPath, ...inQuery, ...(repeats === true ? [key] : [])],
    ...(body === undefined ? {} : { requestBody: { required: typeof body === "object", ...bodyOf(body) } }),
    responses: { ...Object.fromEntries(responses), default: problem },
    security: role === "public" ? [] : [{ bearer: [] }, ...(basic === true ? [{ basic: [] }] : [])],
  };
}

function contentOf(answer: Schema | string | null): Schema {
  if (answer === null) return {};
  if (typeof answer === "string") return { content: { [answer]: { schema: { type: "string" } } } };
  return { content: { "application/json": { schema: answer } } };
}

function bodyOf(body: Schema | "bytes"): Schema {
  return { content: { "application/json": { schema: body === "bytes" ? {} : body } } };
}
