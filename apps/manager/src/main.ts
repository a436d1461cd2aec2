import { findOwnModules } from '@svc/service-kit/own-imports.ts';

findOwnModules();
const [{ runService }, { startManager }] = await Promise.all([
  import('@svc/service-kit/run-service.ts'),
  import('./start-manager.ts'),
]);
await runService('manager', startManager);
