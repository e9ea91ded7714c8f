import { useState } from 'react';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import { changeComplaints, isRefused } from '../../api/problem-error.ts';
import {
  type ParamsDraft,
  ParamsInput,
  SwitchMode,
  useParamsDraft,
  type Wrong,
  wrongOf,
  wrongParams,
} from '../definitions/params-input.tsx';

/** The params of a job in a dialog: as fields of the schema that has their shape, or as JSON. */
export interface JobParams {
  draft: ParamsDraft;
  wrong: Wrong;
  setWrong: (wrong: Wrong) => void;
  /** Shows beside the fields what the server refuses. */
  checked: <Answer>(action: Promise<Answer>) => Promise<Answer>;
}

export function useJobParams(
  { params, paramsShape }: JobView,
  definition: PublishedDefinition | undefined,
): JobParams {
  const hasShape = definition?.paramsShape === paramsShape;
  const draft = useParamsDraft(hasShape ? definition.paramsSchema : null, params);
  const [wrong, setWrong] = useState<Wrong>({});
  const checked = async <Answer,>(action: Promise<Answer>) => {
    setWrong({});
    return await action.catch((error: unknown) => {
      if (isOfFields(error)) setWrong(wrongParams(wrongOf(error)));
      throw error;
    });
  };
  return { draft, wrong, setWrong, checked };
}

/** The complaints of the dialog: none about fields, which have theirs. */
export function otherComplaints(error: unknown): readonly string[] {
  return isOfFields(error) ? [] : changeComplaints(error);
}

function isOfFields(error: unknown): error is Error {
  return error instanceof Error && isRefused(error) && error.violations.length > 0;
}

export function JobParamsInput({ params: { draft, wrong } }: { params: JobParams }) {
  return (
    <>
      <ParamsInput draft={draft} wrong={wrong} />
      <p>
        <SwitchMode draft={draft} />
      </p>
    </>
  );
}
