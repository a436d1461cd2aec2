import type { EngineChoice } from '@svc/contract/service.ts';
import type { EngineProbe } from '@svc/engine-kit/engine.ts';
import { endpointEngine } from '@svc/service-kit/config/engine-traits.ts';
import { engineIds, type EngineId } from './load-engine.ts';

/** A model server on this machine that speaks the Responses protocol. */
export type LocalEndpoint = { name: string; baseUrl: string; model: string | null };

export type Choosing = {
  /** The engine that the operator set, and where. */
  configured: { id: EngineId; by: string } | null;
  /** Probes one engine; called only for those that matter. */
  probe(id: EngineId): Promise<EngineProbe>;
  findLocalEndpoint(): Promise<LocalEndpoint | null>;
  /** True for an engine that is ready as soon as the vault is unsealed. */
  waitsForVault(id: EngineId): Promise<boolean>;
};

export type Chosen = EngineChoice & { id: EngineId; baseUrl: string | null };

/**
 * Chooses the engine and says why: the configured one, else the first that is installed and logged in, else a model server
 * on this machine, else one whose key may be in the sealed vault, else `offline`, which needs nothing and says so.
 */
export async function chooseEngine({ configured, probe, findLocalEndpoint, waitsForVault }: Choosing): Promise<Chosen> {
  if (configured !== null) return choice(configured.id, `It is set as the default (${configured.by}).`);

  const missing: string[] = [];
  const installed: EngineId[] = [];
  for (const id of engineIds.filter((each) => each !== 'offline')) {
    const found = await probe(id);
    if (found.ready) return choice(id, `It is the first engine that is ready: ${found.reason}`);
    if (found.installed) installed.push(id);
    missing.push(found.reason);
  }
  const local = await findLocalEndpoint();
  if (local !== null && installed.includes(endpointEngine)) {
    return {
      ...choice(endpointEngine, `${local.name} answers at ${local.baseUrl}.`),
      model: local.model,
      baseUrl: local.baseUrl,
    };
  }
  for (const id of installed) if (await waitsForVault(id)) return choice(id, missing.join(' '));
  const install = `./svc engine install ${endpointEngine}`;
  const offer =
    local === null ? [] : [`${local.name} answers at ${local.baseUrl} and is used through ${endpointEngine}: ${install}`];
  return choice('offline', ['No other engine is ready.', ...missing, ...offer].join(' '));
}

const choice = (id: EngineId, why: string): Chosen => ({ id, model: null, why, baseUrl: null });
