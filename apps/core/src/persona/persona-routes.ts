import { personaTiers, type EnginePersona, type PersonaView } from '@svc/contract/persona.ts';
import type { Static } from '@svc/contract/schema.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { EngineAdmin } from '../engine/engine-admin.ts';
import type { EngineRegistry } from '../engine/engine-registry.ts';
import type { Folders } from '../folder/folders.ts';
import { readEnginePersona } from './engine-persona.ts';
import type { Persona } from './persona.ts';

const querystring = {
  type: 'object',
  additionalProperties: false,
  properties: { tier: { enum: personaTiers, default: 'SACRED' } },
} as const;

type Deps = {
  persona: Persona;
  paths: DataPaths;
  engineAdmin: Pick<EngineAdmin, 'idOf'>;
  engines: Pick<EngineRegistry, 'open'>;
  folders: Folders;
};

/** `GET /v2/persona`: what every engine gets and where it comes from. `/v2/persona/:engine`: what one engine makes of it. */
export function mountPersonaRoutes(app: App, { persona, paths, engineAdmin, engines, folders }: Deps): void {
  app.get('/v2/persona', (): PersonaView => {
    const text = persona.text();
    return { text, bytes: Buffer.byteLength(text), source: persona.source(), file: paths.persona, fault: persona.fault() };
  });

  app.get<{ Params: { engine: string }; Querystring: Static<typeof querystring> }>(
    '/v2/persona/:engine',
    { schema: { querystring } },
    async ({ params, query }): Promise<EnginePersona> => {
      const { engine } = await engines.open(engineAdmin.idOf(params.engine));
      return readEnginePersona({ persona, folders, paths }, engine, query.tier);
    },
  );
}
