import { findOwnModules } from '@svc/service-kit/own-imports.ts';

findOwnModules();
const [{ runService }, { startDashboard }] = await Promise.all([
  import('@svc/service-kit/run-service.ts'),
  import('./start-dashboard.ts'),
]);
await runService('dashboard', startDashboard);
