import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

type Json = Record<string, unknown>;
type Described = { operationId?: string; parameters?: { name: string; in: string }[]; requestBody?: Json; responses?: Json };
type Document = { paths: Record<string, Record<string, Described>>; components: { schemas: Json } };

/** A route of the description, with the values of its parameters. */
export type FoundOperation = { id: string; template: string; at: Record<string, string> };

/**
 * Checks requests and answers against the published description of the HTTP API. `discord-openapi.json` is `specs/openapi.json` of
 * github.com/discord/discord-api-spec (API v10, preview), under the MIT licence beside it; a newer one is put in its place, formatted.
 */
export type OpenApiDescription = {
  find(method: string, path: string): FoundOperation | undefined;
  /** Errors in the query and the body of a request; unknown fields are errors, too. */
  requestFaults(id: string, query: URLSearchParams, body: unknown): string[];
  /** Errors in an answer. */
  answerFaults(id: string, status: number, answer: unknown): string[];
};

let read: OpenApiDescription | undefined;

export const readOpenApi = (): OpenApiDescription => (read ??= describe());

function describe(): OpenApiDescription {
  const text = readFileSync(path.join(import.meta.dirname, 'discord-openapi.json'), 'utf8');
  const document = JSON.parse(text) as Document;
  const operations = new Map<string, { pointer: string; described: Described }>();
  const routes = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).flatMap(([method, described]) => {
      const id = described.operationId;
      if (id === undefined) return [];
      operations.set(id, { pointer: `#/paths/${escape(template)}/${method}`, described });
      return [{ id, method, template, pattern: patternOf(template) }];
    }),
  );
  // The route with the most fixed parts wins: `@me` is not an id.
  routes.sort((a, b) => parametersOf(a.template) - parametersOf(b.template));
  const checkRequest = createChecks(closed(document) as Document);
  const checkAnswer = createChecks(document);

  return {
    find(method, path) {
      const asked = decodeURIComponent(path);
      const fits = routes.filter((route) => route.method === method.toLowerCase());
      for (const { id, template, pattern } of fits) {
        const found = pattern.exec(asked);
        if (found !== null) return { id, template, at: { ...found.groups } };
      }
      return undefined;
    },
    requestFaults(id, query, body) {
      const { pointer, described } = operations.get(id) as { pointer: string; described: Described };
      const known = new Set((described.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name));
      const unknown = [...query.keys()].filter((name) => !known.has(name)).map((name) => `unknown in the query: ${name}`);
      const hasBody = contentOf(described.requestBody) !== undefined;
      if (body === undefined) return [...unknown, ...(described.requestBody?.['required'] === true ? ['missing body'] : [])];
      if (!hasBody) return Object.keys(body as object).length === 0 ? unknown : [...unknown, 'a body that nobody reads'];
      return [...unknown, ...checkRequest(`${pointer}/requestBody/content/${escape('application/json')}/schema`, body)];
    },
    answerFaults(id, status, answer) {
      const { pointer, described } = operations.get(id) as { pointer: string; described: Described };
      const response = described.responses?.[String(status)] as Json | undefined;
      if (response === undefined) return [`no answer with the status ${status} is described`];
      if (contentOf(response) === undefined) return answer === undefined ? [] : ['an answer where none is described'];
      return checkAnswer(`${pointer}/responses/${status}/content/${escape('application/json')}/schema`, answer);
    },
  };
}

const contentOf = (described: Json | undefined): unknown =>
  (described?.['content'] as Record<string, unknown> | undefined)?.['application/json'];
const escape = (part: string): string => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
const patternOf = (template: string): RegExp => new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
const parametersOf = (template: string): number => template.split('{').length;

/** The same schema without additional fields. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, closed(one)]));
  const isObject = copy['type'] === 'object' && typeof copy['properties'] === 'object';
  return isObject && copy['additionalProperties'] === undefined ? { ...copy, additionalProperties: false } : copy;
}

/** Checks a value by the schema at a pointer of the document. Schemas are compiled on first use. */
function createChecks(document: Document) {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false, allErrors: true, logger: false });
  ajv.addSchema(document, 'discord');
  const compiled = new Map<string, ValidateFunction>();
  const checkOne = (pointer: string, value: unknown): string[] => {
    const check = compiled.get(pointer) ?? ajv.compile({ $ref: `discord${pointer}` });
    compiled.set(pointer, check);
    return check(value) ? [] : faultsOf(check.errors ?? []);
  };
  /** For a union, the errors of the best matching shape. */
  return (pointer: string, value: unknown): string[] => {
    const shapes = (schemaAt(document, pointer)['anyOf'] ?? []) as unknown[];
    if (shapes.length === 0) return checkOne(pointer, value);
    const faults = shapes.map((_, n) => checkOne(`${pointer}/anyOf/${n}`, value));
    return faults.toSorted((a, b) => a.length - b.length)[0] ?? [];
  };
}

const schemaAt = (document: Document, pointer: string): Json =>
  pointer
    .slice(2)
    .split('/')
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((inner, part) => (inner[part] ?? {}) as Json, document as unknown as Json);

/** The deepest errors, which belong to the best matching shape of a union. */
function faultsOf(errors: readonly ErrorObject[]): string[] {
  const deepest = Math.max(...errors.map(depthOf));
  const faults = errors.filter((error) => depthOf(error) === deepest && !['oneOf', 'anyOf'].includes(error.keyword));
  return [...new Set((faults.length > 0 ? faults : errors).map(toFault))].slice(0, 6);
}

const depthOf = ({ instancePath }: ErrorObject): number => instancePath.split('/').length;

const toFault = ({ instancePath, keyword, message, params }: ErrorObject): string =>
  keyword === 'additionalProperties'
    ? `unknown: ${instancePath}/${(params as { additionalProperty: string }).additionalProperty}`
    : `${instancePath} ${message ?? keyword}`.trim();
