import {
  personaTiers,
  personaWriteSchema,
  type EnginePersona,
  type NamedPersona,
  type PersonaView,
} from '@svc/contract/persona.ts';
import type { Static } from '@svc/contract/schema.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { conflict, notFound } from '@svc/service-kit/service-error.ts';
import type { EngineAdmin } from '../engine/engine-admin.ts';
import type { EngineRegistry } from '../engine/engine-registry.ts';
import type { Folders } from '../folder/folders.ts';
import type { InstanceRulesReader } from '../instance/instance-rules.ts';
import { readEnginePersona } from './engine-persona.ts';
import type { PersonaFiles } from './persona-files.ts';
import type { Persona } from './persona.ts';

const querystring = {
  type: 'object',
  additionalProperties: false,
  properties: { tier: { enum: personaTiers, default: 'SACRED' } },
} as const;

type Deps = {
  persona: Persona;
  personaFiles: PersonaFiles;
  instanceRules: Pick<InstanceRulesReader, 'all'>;
  paths: DataPaths;
  engineAdmin: Pick<EngineAdmin, 'idOf'>;
  engines: Pick<EngineRegistry, 'open'>;
  folders: Folders;
};
type ByName = { Params: { name: string } };

/** `GET /v2/persona`: what every engine gets, and its source. `/v2/persona/:engine`: what a particular engine makes of it. */
export function mountPersonaRoutes(app: App, deps: Deps): void {
  const { persona, personaFiles, paths, engineAdmin, engines, folders } = deps;
  const view = (): PersonaView => {
    const text = persona.text();
    const facts = { text, bytes: Buffer.byteLength(text), source: persona.source(), file: paths.persona, fault: persona.fault() };
    return { ...facts, own: personaFiles.read(null) ?? '' };
  };
  app.get('/v2/persona', view);

  app.put('/v2/persona', { schema: { body: personaWriteSchema } }, ({ body }) => {
    personaFiles.write(null, body.own, body.was);
    persona.lookAgain();
    return { ok: true, persona: view() };
  });

  app.get<{ Params: { engine: string }; Querystring: Static<typeof querystring> }>(
    '/v2/persona/:engine',
    { schema: { querystring } },
    async ({ params, query }): Promise<EnginePersona> => {
      const { engine } = await engines.open(engineAdmin.idOf(params.engine));
      return readEnginePersona({ persona, folders, paths }, engine, query.tier);
    },
  );

  mountNamedPersonas(app, deps);
}

/** Personas that replace the default one for the instances that name them. */
function mountNamedPersonas(app: App, { persona, personaFiles, instanceRules }: Deps): void {
  const usersOf = (name: string): string[] => instanceRules.all().flatMap(([id, rules]) => (rules.persona === name ? [id] : []));
  const named = (name: string): NamedPersona => {
    const own = personaFiles.read(name);
    if (own === null) throw notFound('persona', name);
    return { name, own, used_by: usersOf(name) };
  };

  app.get('/v2/personas', () => ({ personas: personaFiles.names().map((name) => ({ name, used_by: usersOf(name) })) }));

  app.get<ByName>('/v2/personas/:name', ({ params }) => named(params.name));

  app.put<ByName & { Body: Static<typeof personaWriteSchema> }>(
    '/v2/personas/:name',
    { schema: { body: personaWriteSchema } },
    ({ params: { name }, body }) => {
      personaFiles.write(name, body.own, body.was);
      persona.lookAgain();
      return { ok: true, persona: named(name) };
    },
  );

  app.delete<ByName>('/v2/personas/:name', ({ params: { name } }) => {
    const users = usersOf(name);
    // Turns of a connector with a missing persona fail.
    if (users.length > 0)
      throw conflict(`The persona "${name}" is used by ${users.join(', ')}. Choose another persona there first.`, {
        used_by: users,
      });
    personaFiles.remove(name);
    persona.lookAgain();
    return { ok: true, name };
  });
}
