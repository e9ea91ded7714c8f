import { Option } from 'commander';

/** `--definition`, whose value has the name that the API uses: `definitionKey`. */
class DefinitionOption extends Option {
  override attributeName(): string {
    return 'definitionKey';
  }
}

export function definitionOption(description: string): Option {
  return new DefinitionOption('--definition <key>', description);
}
