import { defineCommand } from 'longshore';

/** A shell script: packs a folder, unpacks it elsewhere, and compares. Nothing of it is left behind. */
export const backupCheck = defineCommand({
  key: 'backup-check',
  owner: 'team-examples',
  command: ['sh', 'backup-check.sh'],
  timeoutSeconds: 600,
});
