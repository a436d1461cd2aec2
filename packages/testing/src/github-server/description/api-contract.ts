import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';

type Schema = Record<string, unknown>;
type Parameter = { name: string; in: string; required?: boolean; schema: Schema; $ref?: string };
type Operation = {
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content?: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
};
type Document = { paths: Record<string, Record<string, Operation>>; components: Record<string, Record<string, Schema>> };

/** A request as a server reads it. */
export type ContractCall = { method: string; path: string; query: URLSearchParams; body: unknown };

/**
 * Checks calls and answers against GitHub's published description of its REST API. `github-api.json` has what the connector uses of `api.github.com.json` from
 * the package `@octokit/openapi` 23.0.2, without texts and examples and with `nullable` written out, under the MIT licence beside it.
 */
export type ApiContract = {
  /** Errors in a call. */
  callFaults(call: ContractCall): string[];
  /** Errors in an answer of ours. */
  answerFaults(call: ContractCall, status: number, answer: unknown): string[];
};

let read: ApiContract | undefined;

export const readApiContract = (): ApiContract => (read ??= openContract());

function openContract(): ApiContract {
  const document = JSON.parse(
    readFileSync(path.join(import.meta.dirname, 'github-api.json'), 'utf8').replaceAll('#/components/', 'github#/components/'),
  ) as Document;
  const ajv = new Ajv({ strict: false, validateFormats: false, coerceTypes: false, allErrors: true });
  ajv.addSchema({ $id: 'github', components: document.components });
  const coercing = new Ajv({ strict: false, validateFormats: false, coerceTypes: true });
  coercing.addSchema({ $id: 'github', components: document.components });
  const compiled = new Map<Schema, ValidateFunction>();
  const faults = (schema: Schema, value: unknown, what: string, by = ajv): string[] => {
    const check = compiled.get(schema) ?? by.compile(schema);
    compiled.set(schema, check);
    return check(value) ? [] : [`${what}: ${by.errorsText(check.errors)}`];
  };
  const parameterOf = (one: Parameter): Parameter => {
    if (one.$ref === undefined) return one;
    const [kind = '', name = ''] = one.$ref.split('/').slice(-2);
    return document.components[kind]?.[name] as unknown as Parameter;
  };
  const find = ({ method, path: place }: Pick<ContractCall, 'method' | 'path'>): Operation | undefined => {
    const [, operations] =
      Object.entries(document.paths)
        .sort(([a], [b]) => placeholders(a) - placeholders(b))
        .find(([template]) => toPattern(template).test(place)) ?? [];
    return operations?.[method.toLowerCase()];
  };
  return {
    callFaults(call) {
      const operation = find(call);
      const name = `${call.method} ${call.path}`;
      if (operation === undefined) return [`${name} is no call of GitHub's`];
      const known = (operation.parameters ?? []).map(parameterOf);
      const strange = [...call.query.keys()].filter((key) => !known.some((one) => one.in === 'query' && one.name === key));
      const inQuery = known.flatMap((one) => {
        const value = one.in === 'query' ? call.query.get(one.name) : null;
        return value === null ? [] : faults({ properties: { value: one.schema } }, { value }, `${name} ${one.name}`, coercing);
      });
      const schema = operation.requestBody?.content?.['application/json']?.schema;
      const inBody = schema === undefined || call.body === undefined ? [] : faults(schema, call.body, `${name} body`);
      const missing = operation.requestBody?.required === true && call.body === undefined ? [`${name} has no body`] : [];
      return [...strange.map((key) => `${name} does not know ${key}`), ...inQuery, ...inBody, ...missing];
    },
    answerFaults(call, status, answer) {
      const response = find(call)?.responses[String(status)];
      if (response === undefined) return [`${call.method} ${call.path} does not answer ${status}`];
      const schema = response.content?.['application/json']?.schema;
      return schema === undefined ? [] : faults(schema, answer, `answer of ${call.method} ${call.path}`);
    },
  };
}

const placeholders = (template: string): number => template.split('{').length;
const toPattern = (template: string): RegExp => new RegExp(`^${template.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`);
