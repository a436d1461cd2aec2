import path from 'node:path';
import type { EnginePersona, PersonaTier } from '@svc/contract/persona.ts';
import type { Engine, EngineRequest } from '@svc/engine-kit/engine.ts';
import type { ToolPolicy } from '@svc/contract/trust.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Folders } from '../folder/folders.ts';
import type { Persona } from './persona.ts';

/** The tool policies of the built-in roles. */
const policies: Record<PersonaTier, ToolPolicy> = { SACRED: 'full', TRUSTED: 'full', KNOWN: 'read', GUEST: 'none' };

type Deps = { persona: Persona; folders: Pick<Folders, 'forTurn'>; paths: Pick<DataPaths, 'workspaces'> };

/** The prompt that an engine would give its model in the first turn of a person of this tier, on a channel without its own folder. */
export async function readEnginePersona(deps: Deps, engine: Engine, tier: PersonaTier): Promise<EnginePersona> {
  const request = await exampleOf(deps, tier);
  const { text, added } = (await engine.instructions?.(request)) ?? { text: request.system, added: [] };
  const { toolPolicy } = request;
  const source = deps.persona.source();
  return { engine: engine.id, tier, tool_policy: toolPolicy, text, bytes: Buffer.byteLength(text), source, added };
}

async function exampleOf({ persona, folders, paths }: Deps, tier: PersonaTier): Promise<EngineRequest> {
  const toolPolicy = policies[tier];
  const origin = { conversationKey: '', instanceId: null, channel: '' };
  const folder =
    toolPolicy === 'full'
      ? await folders.forTurn(origin, { tool_policy: toolPolicy, trust_tier: tier })
      : { path: path.join(paths.workspaces, '<conversation>'), isTrusted: false };
  return {
    conversationKey: '',
    prompt: '',
    text: '',
    system: persona.text(),
    attachments: [],
    filesDir: null,
    transcript: [],
    resume: null,
    model: null,
    cwd: folder.path,
    trustedFolder: folder.isTrusted,
    toolPolicy,
    toolServers: [],
    facts: { channel: '', sender: '', tier, public: false, channel_context: {} },
  };
}
