import { readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DeploymentPlan } from '../ipc.ts';
import { firstLines, type Loaded, unreadable } from './loaded.ts';
import { isJobDefinition, type JobDefinition } from '../../core/definition/define.ts';
import { isDefinitionFile } from '../../core/definition/definition-file.ts';

const MISSING =
  'no such file or folder; name the folder of your jobs with --jobs FOLDER, or create a project ' +
  'with npx longshore init';

/** Loads every definition that the files below a path export, or all of a deployment. */
export async function loadDefinitions(path: string, deployment?: DeploymentPlan): Promise<Loaded> {
  const root = resolve(path);
  if (deployment !== undefined) {
    const { loadDeployment } = await import('./load-deployment.ts');
    const { provideModules } = await import('./provided-modules.ts');
    provideModules(deployment.provided);
    return await loadDeployment(root, deployment);
  }
  const byName = new Map<string, { definition: JobDefinition; shown: string; file: string }>();
  const problems: string[] = [];
  let files: string[];
  try {
    files = definitionFiles(root);
  } catch (error) {
    return { definitions: [], problems: [`${path}: ${unreadable(error) ?? MISSING}`] };
  }
  for (const file of files) {
    const shown = relative(process.cwd(), file) || file;
    try {
      const found = await definitionsIn(file);
      if (found.length === 0) {
        problems.push(
          `${shown}: exports no job made by defineJob or defineCommand; ` +
            `if other files import it, begin its name with "_", or move it out of this folder`,
        );
      }
      for (const definition of found) {
        const name = `${definition.key}@${definition.version}`;
        const other = byName.get(name);
        if (other && other.definition !== definition) {
          problems.push(
            `${shown}: ${name} is already defined in ${other.shown}, which is used: rename one of the two keys`,
          );
        } else {
          byName.set(name, { definition, shown, file });
        }
      }
    } catch (error) {
      problems.push(`${shown}: ${firstLines(error)}`);
    }
  }
  const definitions = [...byName.values()].map(({ definition, file }) => placed(definition, file));
  const loadedFrom = new Map([...byName].map(([name, { file }]) => [name, file]));
  return { definitions, problems, files: loadedFrom };
}

/** A command runs in the folder of its definition's file, which is known only here. */
function placed(definition: JobDefinition, file: string): JobDefinition {
  const { info } = definition;
  if (!info.command) return definition;
  const cwd = resolve(dirname(file), info.command.cwd ?? '.');
  return { ...definition, info: { ...info, command: { ...info.command, cwd } } };
}

function definitionFiles(root: string): string[] {
  if (statSync(root).isFile()) return [root];
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return names
    .filter(isDefinitionFile)
    .sort()
    .map((name) => join(root, name));
}

async function definitionsIn(file: string): Promise<JobDefinition[]> {
  const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  return Object.values(module).filter(isJobDefinition);
}
