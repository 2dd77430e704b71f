/** @module Turns the problems of a manifest into findings. */
import type { Problem } from "../../model/errors.ts";
import { own } from "../../model/json.ts";
import type { ReportFinding } from "./sarif-log.ts";

export function problemFindings(problems: readonly Problem[]): readonly ReportFinding[] {
  return problems.map((problem) => {
    const { code, severity, message, hint, range, address } = problem;
    return {
      rule: code,
      help: own(problemRules, code) ?? `${code.replaceAll("-", " ")}: the message of each finding says more.`,
      level: severity,
      message: hint === undefined ? message : `${message} (${hint})`,
      where: range,
      // The messages of duplicates name the line of the first one.
      fingerprint: {
        name: "problem/v1",
        parts: [code, range.file, address ?? "", message.replace(/\bline \d+/g, "line")],
      },
    };
  });
}

/** One sentence for each code of a problem, with the way out. */
export const problemRules: { readonly [code: string]: string } = {
  "account-mismatch": "A role names another cloud account than the field beside it. Correct one of the two.",
  "acl-command":
    "An access rule names a command or category that the database does not know. Correct its name.",
  "acl-rule": "An access rule of a user does not follow the syntax of Redis access rules. Correct the rule.",
  "alias-bomb":
    "YAML aliases expand to too many values. Write the values out, or put what is common under defaults.",
  "migrate-free":
    "onReplace: migrate is set in a tier whose data cannot be moved. Take a paid tier, or leave it out.",
  "backup-free": "onDelete: backup is set in a tier without backups. Take a paid tier, or leave it out.",
  "bad-address": "An address does not have the form SECTION.NAME or SECTION.NAME[KEY]. Correct the address.",
  "bad-format": "A value does not have the form that its field needs. Correct the value.",
  "bad-key": "A key of a map is not plain text. Write it as one word or in quotes.",
  "bad-move": "An entry under moved does not lead from an old address to a declared one. Correct the entry.",
  "bad-name": "A name has characters that an address may not have. Use letters, digits, - and _.",
  "bad-number": "A number cannot be sent as it is written. Write a number that JSON can hold.",
  "bad-reference": "A reference points to something that cannot be referred to there. Correct the reference.",
  "bad-removal":
    "An entry under removed names a resource that is still declared, or that another entry names. Remove one of the two.",
  binary: "The file is not text. Save it as UTF-8.",
  "component-field":
    "A field is not offered by the component of the resource. Remove it, or take another component.",
  "create-only-default":
    "A field that cannot be changed later is left to the default of the service. Set it, or accept the default.",
  cycle: "Resources refer to each other in a circle. Remove one of the references.",
  "duplicate-key": "A key is written twice in one map. Remove one of the two.",
  "duplicate-user": "Two users of one database have the same name. Give each its own name.",
  empty: "The manifest is empty. Begin with apiVersion: graphform/v1.",
  "empty-secret": "A secret has no characters. Correct its variable, file or command.",
  "left-out":
    "A reference names a resource that is left out here (enabled: false). Leave out what refers to it too, or enable it.",
  "merge-key": "A YAML merge key is not part of YAML 1.2. Put common values under defaults.",
  "missing-file": "A manifest file does not exist. Name another file with -f.",
  "missing-key": "A required key is missing. Add it.",
  "missing-variable": "A variable has no value. Give it with --var, or add a default.",
  "no-rows":
    "A result limit of 0 gives no rows at some services. Write the largest number of rows that is wanted.",
  "not-a-map": "A manifest must be a map of keys and values. Begin with apiVersion: graphform/v1.",
  "not-allowed": "A value is not one of those that its field allows. Choose one of the allowed values.",
  "not-allowed-here":
    "A manifest of an author who is not trusted runs, reads or names something that its limits do not allow. Leave it out, or have the limits changed.",
  "not-offered":
    "The service of this profile does not offer the value or operation. Choose one that it offers.",
  "not-offered-today": "The service does not offer this value at present. Choose one that it offers.",
  "nothing-to-save": "onDelete: backup is set on a resource without data. Leave it out, or write retain.",
  "overdue-removal": "The date until which an entry under removed was to stay has passed. Remove the entry.",
  "place-mismatch":
    "Objects of one name differ in what one object has once, such as provider or region. Take another name, or correct one.",
  "profile-invalid": "The profile file that the manifest names is not valid. Correct it.",
  "profile-unreadable": "The profile that the manifest names cannot be read. Correct its name or path.",
  "profile-field": "The profile does not offer a field. Remove it, or use another profile.",
  "protected-free":
    "A resource of the free tier is protected, but the service deletes it once it is not used any more.",
  "provider-field": "A field is not offered by the cloud provider of the resource. Remove the field.",
  "reserved-key": "A key has a reserved name. Choose another name.",
  "secret-in-clear":
    "A secret would be stored and shown in clear. Mark the output as sensitive, or leave it out.",
  "password-in-address":
    "An address in the manifest has a password in it. Reports hide it; everybody who reads the manifest can read it.",
  "secret-literal": "A secret is written in the manifest in clear. Take it from a secret.",
  "secret-unavailable": "A secret cannot be read. Correct its variable, file or command.",
  "several-documents": "A file holds several YAML documents. Keep one document in each file.",
  "shared-secret": "Two entries would read their secrets from one variable. Let their keys differ in more.",
  "shared-id": "Two addresses are bound to the same object. Remove one of the bindings.",
  "url-in-clear": "An address sends the state and its credentials in clear to another machine.",
  "url-invalid": "An address of the state is no plain http or https address.",
  "state-credentials":
    "A credential of the state's store stands in the manifest. Give it in the environment.",
  "state-key":
    "The state section lacks a key that its type needs, or has one of another type. Correct the section.",
  "tag-name": "A tag has a name that the service or graphform reserves. Choose another name.",
  "tier-field": "A field is not offered by the tier of the resource. Remove it, or take another tier.",
  "too-deep": "The file is nested too deeply. Look for brackets or dashes that are never closed.",
  "too-large": "A number, text or file is larger than allowed. Reduce it.",
  "too-long": "A text is longer than its field allows. Shorten it.",
  "too-short": "A text is shorter than its field allows. Write a longer one, or remove the key.",
  "too-small": "A number is smaller than its field allows. Increase it.",
  "unknown-component": "The tier has no component of this name. Choose one that it has.",
  "unknown-field": "The kind has no field of this name. Correct the name.",
  "unknown-key": "A map has no key of this name. Correct the name, or remove the key.",
  "unknown-output": "A reference names an output that the resource does not have. Correct the name.",
  "unknown-resource": "A reference names a resource that is not declared. Declare it, or correct the name.",
  "unknown-secret": "A reference names a secret that is not declared. Declare it under secrets.",
  "unknown-tag": "A YAML tag is not known or does not fit its value. Remove the tag.",
  "unknown-tier": "The profile has no tier of this name. Choose one that it has.",
  "unknown-type": "The profile lists no machine type of this name. Choose one that it lists.",
  "unknown-variable": "A reference names a variable that is not declared. Declare it under variables.",
  "unreadable-file": "A file cannot be read. Correct its path or its permissions.",
  "wrong-count": "A map must have exactly one key. Keep one of its keys.",
  "wrong-type": "A value has the wrong type. Write a value of the type that the message names.",
  yaml: "The file is not valid YAML. Correct the syntax at this line.",
  "yaml-version": "The file asks for another version of YAML than 1.2. Remove the %YAML line.",
};
