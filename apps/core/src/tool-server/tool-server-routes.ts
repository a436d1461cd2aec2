import {
  maxToolTestMs,
  toolServerSchemas,
  type ToolServerImport,
  type ToolServerSaved,
  type ToolServerTest,
  type ToolServerToggled,
} from '@svc/contract/tool-server.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { badRequest, ServiceError } from '@svc/service-kit/service-error.ts';
import { checkEntry, nameProblem, type Problem } from './check-entry.ts';
import { readDocument, toCandidates } from './import-document.ts';
import { maskEntry, plainSecrets } from './mask-entry.ts';
import type { ToolServers } from './tool-servers.ts';
import type { ToolTests } from './tool-tests.ts';

type Deps = { toolServers: ToolServers; toolTests: ToolTests };

const { stdio, http } = toolServerSchemas;
const said = ({ description }: { description: string }) => ({ description });

/** The schema does not check types: the check of the whole entry reports every problem at once. */
const saveBody = {
  type: 'object',
  properties: {
    name: said(stdio.properties.name),
    type: { description: 'stdio or http, as the registry shows it. It may be left out.' },
    command: said(stdio.properties.command),
    args: { description: 'A list of strings.' },
    env: said(stdio.properties.env),
    url: said(http.properties.url),
    headers: said(http.properties.headers),
    safe: said(stdio.properties.safe),
    enabled: { description: 'false: registered, but switched off' },
    replace: { type: 'boolean', default: true, description: 'false: refused if this name is taken' },
    description: said(stdio.properties.description),
  },
} as const;

const importBody = {
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 1, maxLength: 4096 },
    document: { type: 'object', additionalProperties: true },
    replace: { type: 'boolean', default: false },
  },
} as const;

const testBody = {
  type: 'object',
  properties: { limit_ms: { type: 'integer', minimum: 1000, maximum: maxToolTestMs, default: 60_000 } },
} as const;

const byName = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } as const;

/** `/v2/mcp` (spec: Tool registry). */
export function mountToolServerRoutes(app: App, { toolServers, toolTests }: Deps): void {
  app.get('/v2/mcp', () => toolServers.list());

  app.post('/v2/mcp', { schema: { body: saveBody } }, async ({ body }): Promise<ToolServerSaved> => {
    const { name, replace, ...fields } = body;
    const badName = nameProblem(name);
    const { entry, problems } = checkEntry(fields);
    const unknown = Object.keys(fields).filter((field) => !(field in saveBody.properties));
    const all = [
      ...(badName === null ? [] : [{ field: 'name', problem: badName }]),
      ...problems,
      ...unknown.map((field) => ({ field: field.slice(0, 64), problem: 'is not known' })),
    ];
    if (all.length > 0 || entry === null || typeof name !== 'string') throw notValid(all);
    const { replaced } = await toolServers.save(name, entry, { replaces: replace });
    const warnings = [...plainSecrets(entry), ...(await toolServers.missingSecrets(entry))];
    return { ok: true, name, replaced, server: maskEntry(entry), warnings };
  });

  app.post('/v2/mcp/:name/toggle', { schema: { params: byName } }, async ({ params: { name } }): Promise<ToolServerToggled> => {
    return { ok: true, name, enabled: await toolServers.toggle(name) };
  });

  app.post(
    '/v2/mcp/:name/test',
    { schema: { params: byName, body: testBody } },
    async ({ params: { name }, body }, reply): Promise<ToolServerTest> => {
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      return toolTests.run(name, body.limit_ms, gone.signal);
    },
  );

  app.delete('/v2/mcp/:name', { schema: { params: byName } }, async ({ params: { name } }) => {
    await toolServers.remove(name);
    return { ok: true, name };
  });

  app.post('/v2/mcp/import', { schema: { body: importBody } }, async ({ body }) => {
    if ((body.path === undefined) === (body.document === undefined)) {
      throw badRequest('Give either "path" (a file on this machine) or "document" (what is in it).');
    }
    return importAll(toolServers, body.path === undefined ? body.document : readDocument(body.path), body.replace);
  });
}

async function importAll(toolServers: Deps['toolServers'], document: unknown, replaces: boolean): Promise<ToolServerImport> {
  const done: ToolServerImport = { ok: true, imported: [], skipped: [] };
  for (const candidate of toCandidates(document)) {
    const { name } = candidate;
    if ('reason' in candidate) done.skipped.push(candidate);
    else if (!replaces && toolServers.has(candidate.as)) {
      done.skipped.push({ name, reason: `there is a tool server "${candidate.as}" already` });
    } else {
      try {
        const { as, entry, warnings } = candidate;
        const { replaced } = await toolServers.save(as, entry);
        done.imported.push({ name, as, enabled: entry.enabled, replaced, warnings: [...warnings, ...plainSecrets(entry)] });
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        done.skipped.push({ name, reason: error.message });
      }
    }
  }
  return done;
}

function notValid(fields: Problem[]): ServiceError {
  const text = fields.map(({ field, problem }) => `${field} ${problem}`).join('; ');
  return badRequest(`The tool server is not valid: ${text}.`, { fields });
}
