import { findOwnModules } from '@svc/service-kit/own-imports.ts';

findOwnModules();
const [{ runService }, { startManager }, { warmUp }] = await Promise.all([
  import('@svc/service-kit/run-service.ts'),
  import('./start-manager.ts'),
  import('./warm-up.ts'),
]);
await runService('manager', startManager, warmUp);
