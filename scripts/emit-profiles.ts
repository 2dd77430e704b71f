import { join } from "node:path";
import { Ajv } from "ajv";
import standalone from "ajv/dist/standalone/index.js";
import type { ProfileText } from "../src/hosting/profile/expand-profile.ts";
import { readProfile } from "../src/hosting/profile/profile-file.ts";
import { profileSchema } from "../src/hosting/profile/profile-schema.ts";
import type { Conforms } from "../src/model/violation.ts";
import { compiledModule, writeEmitted } from "./compiled-module.ts";

const root = join(import.meta.dirname, "..");
const names = ["default", "falkordb-cloud"];

/**
 * Writes the compiled validator of profiles, and the built-in profiles ready for use (reading YAML takes five times as
 * long as a command may take to start).
 */
const ajv = new Ajv({ strict: true, allErrors: true, inlineRefs: false, code: { source: true, esm: true } });
ajv.addSchema(profileSchema, "profile");
const isValid = ajv.compile<ProfileText>({ $ref: "profile" });
const validator: Conforms<ProfileText> = (value): value is ProfileText => {
  const valid = isValid(value);
  validator.errors = isValid.errors ?? null;
  return valid;
};

const profiles = await Promise.all(
  names.map(
    async (name) => [name, await readProfile(join(root, "profiles", `${name}.yaml`), validator)] as const,
  ),
);
const entries = profiles.map(([name, profile]) => {
  const json = JSON.stringify(JSON.stringify(profile));
  return `  ${JSON.stringify(name)}: () => JSON.parse(${json}),`;
});

writeEmitted(
  "src/hosting/profile/built-in.generated.js",
  `// Emitted by scripts/emit-profiles.ts.\nexport const builtIn = {\n${entries.join("\n")}\n};\n`,
);
writeEmitted(
  "src/hosting/profile/built-in.generated.d.ts",
  [
    "// Emitted by scripts/emit-profiles.ts.",
    'import type { Profile } from "../../model/service.ts";',
    "/** The profiles of the package's `profiles` folder; each call gives a new copy. */",
    "export declare const builtIn: { readonly [name: string]: () => Profile };",
    "",
  ].join("\n"),
);
writeEmitted(
  "src/hosting/profile/profile-validator.generated.js",
  await compiledModule(standalone.default(ajv, { validateProfile: "profile" }), "emit-profiles.ts"),
);
writeEmitted(
  "src/hosting/profile/profile-validator.generated.d.ts",
  [
    "// Emitted by scripts/emit-profiles.ts.",
    'import type { Conforms } from "../../model/violation.ts";',
    'import type { ProfileText } from "./expand-profile.ts";',
    "/** The profile's schema, compiled. */",
    "export declare const validateProfile: Conforms<ProfileText>;",
    "",
  ].join("\n"),
);
