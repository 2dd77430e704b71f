/**
 * The part of SARIF 2.1.0 that graphform writes, with what GitHub's code scanning needs of it, as a JSON Schema. It allows nothing
 * else, so that a misspelled property is found.
 */
export const sarifSchema = {
  type: "object",
  additionalProperties: false,
  required: ["$schema", "version", "runs"],
  properties: {
    $schema: { type: "string", pattern: "^https://" },
    version: { const: "2.1.0" },
    runs: { type: "array", minItems: 1, maxItems: 20, items: { $ref: "#/definitions/run" } },
  },
  definitions: {
    message: {
      type: "object",
      additionalProperties: false,
      required: ["text"],
      properties: { text: { type: "string", minLength: 1, pattern: "^(?![\\s\\S]*\\]\\()" } },
    },
    level: { enum: ["error", "warning", "note", "none"] },
    position: { type: "integer", minimum: 1 },
    rule: {
      type: "object",
      additionalProperties: false,
      required: [
        "id",
        "shortDescription",
        "fullDescription",
        "help",
        "helpUri",
        "defaultConfiguration",
        "properties",
      ],
      properties: {
        id: { type: "string", minLength: 1 },
        name: { type: "string", minLength: 1 },
        shortDescription: { $ref: "#/definitions/message" },
        fullDescription: { $ref: "#/definitions/message" },
        help: { $ref: "#/definitions/message" },
        helpUri: { type: "string", pattern: "^https://" },
        defaultConfiguration: {
          type: "object",
          additionalProperties: false,
          properties: { level: { $ref: "#/definitions/level" } },
        },
        properties: {
          type: "object",
          additionalProperties: false,
          properties: { tags: { type: "array", maxItems: 10, uniqueItems: true, items: { type: "string" } } },
        },
      },
    },
    location: {
      type: "object",
      additionalProperties: false,
      required: ["physicalLocation"],
      properties: {
        physicalLocation: {
          type: "object",
          additionalProperties: false,
          required: ["artifactLocation", "region"],
          properties: {
            artifactLocation: {
              type: "object",
              additionalProperties: false,
              required: ["uri"],
              properties: {
                uri: { type: "string", pattern: "^(file:///)?[A-Za-z0-9._~!$&'()*+,;=:@%-][^ \\\\]*$" },
              },
            },
            region: {
              type: "object",
              additionalProperties: false,
              required: ["startLine"],
              properties: {
                startLine: { $ref: "#/definitions/position" },
                startColumn: { $ref: "#/definitions/position" },
                endLine: { $ref: "#/definitions/position" },
                endColumn: { $ref: "#/definitions/position" },
              },
            },
          },
        },
      },
    },
    result: {
      type: "object",
      additionalProperties: false,
      required: ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"],
      properties: {
        ruleId: { type: "string", minLength: 1 },
        ruleIndex: { type: "integer", minimum: 0 },
        level: { $ref: "#/definitions/level" },
        message: { $ref: "#/definitions/message" },
        locations: { type: "array", minItems: 1, maxItems: 1, items: { $ref: "#/definitions/location" } },
        partialFingerprints: {
          type: "object",
          minProperties: 1,
          additionalProperties: { type: "string", pattern: "^[0-9a-f]{64}$" },
        },
      },
    },
    run: {
      type: "object",
      additionalProperties: false,
      required: ["tool", "columnKind", "invocations", "results"],
      properties: {
        tool: {
          type: "object",
          additionalProperties: false,
          required: ["driver"],
          properties: {
            driver: {
              type: "object",
              additionalProperties: false,
              required: ["name", "informationUri", "semanticVersion", "rules"],
              properties: {
                name: { const: "graphform" },
                version: { type: "string" },
                informationUri: { type: "string", pattern: "^https://" },
                semanticVersion: { type: "string", pattern: "^\\d+\\.\\d+\\.\\d+" },
                rules: { type: "array", maxItems: 25_000, items: { $ref: "#/definitions/rule" } },
              },
            },
          },
        },
        columnKind: { const: "utf16CodeUnits" },
        // A property bag: what was asked, of how many.
        properties: {
          type: "object",
          additionalProperties: false,
          patternProperties: { "^[a-z]+[A-Za-z]*\\.[a-z]+[A-Za-z]*$": { type: "integer", minimum: 0 } },
        },
        invocations: {
          type: "array",
          items: {
            type: "object",
            additionalProperties: false,
            required: ["executionSuccessful"],
            properties: {
              executionSuccessful: { type: "boolean" },
              toolExecutionNotifications: {
                type: "array",
                items: {
                  type: "object",
                  additionalProperties: false,
                  required: ["message"],
                  properties: {
                    level: { $ref: "#/definitions/level" },
                    message: { $ref: "#/definitions/message" },
                  },
                },
              },
            },
          },
        },
        results: { type: "array", maxItems: 25_000, items: { $ref: "#/definitions/result" } },
      },
    },
  },
} as const;
