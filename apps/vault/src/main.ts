import { findOwnModules } from '@svc/service-kit/own-imports.ts';

findOwnModules();
const [{ runService }, { startVault }] = await Promise.all([
  import('@svc/service-kit/run-service.ts'),
  import('./start-vault.ts'),
]);
await runService('vault', (service) => startVault(service));
