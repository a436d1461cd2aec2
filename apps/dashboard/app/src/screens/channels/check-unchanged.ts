import { t } from '@svc/chat-ui/language/t.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { ApiFault, call } from '../../parts/api.ts';

/** Saving replaces all settings, so another person's changes would be lost. @throws ApiFault when there are any */
export async function checkUnchanged({ id, updated_at: seen }: Pick<Instance, 'id' | 'updated_at'>): Promise<void> {
  const { instance } = await call<{ instance: Instance }>('GET', `/manager/instances/${encodeURIComponent(id)}`);
  if (instance.updated_at === seen) return;
  throw new ApiFault(409, {
    message: t('These settings have been changed in the meantime. Close this, open it again and change them there.'),
  });
}
