import { rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Instance } from '@svc/contract/instance.ts';
import { openKitManager, type OpenManager } from './open-manager.ts';
import { postedBy } from './waiting.ts';

/**
 * A manager for the tests of one file, which runs real connectors of the type `postbox`: what is sent through them can be
 * read again. Each test begins without instances, but for those that its `describe` shares.
 */
export function openPostboxBench() {
  let manager: OpenManager;
  const shared = new Set<string>();
  beforeAll(async () => {
    // The name does not show that its value is a secret; a config that names it does.
    process.env['POSTBOX'] = 'bot-token-of-the-postbox';
    manager = await openKitManager({ SVC_INSIGHTS_TOKEN: 'canary-insights-token' });
  });
  afterAll(async () => {
    delete process.env['POSTBOX'];
    await manager.close();
  });
  afterEach(async () => {
    for (const { id } of await list()) {
      if (!shared.has(id)) await manager.call('DELETE', `/instances/${id}`);
      else rmSync(path.join(manager.dataDir, 'instances', id, 'posted.jsonl'), { force: true });
    }
  });

  const list = async () => (await manager.call('GET', '/instances')).body['instances'] as Instance[];

  const create = async (over: object = {}, config: object = {}): Promise<Instance> => {
    const body = { type: 'postbox', name: 'Box', enabled: true, config, ...over };
    return (await manager.call('POST', '/instances', body)).body['instance'] as Instance;
  };

  return {
    get manager() {
      return manager;
    },
    list,
    create,
    /** One instance for all tests of a `describe`, which are not about its process. Each finds nothing posted. */
    share(): () => Instance {
      let instance: Instance;
      beforeAll(async () => {
        instance = await create();
        shared.add(instance.id);
      });
      afterAll(async () => {
        shared.delete(instance.id);
        await manager.call('DELETE', `/instances/${instance.id}`);
      });
      return () => instance;
    },
    send: (body: object, headers: Record<string, string> = {}) => manager.call('POST', '/send', body, headers),
    /** What an instance has put on its channel, in order. */
    posted: (id: string) => postedBy(manager.dataDir, id),
  };
}
