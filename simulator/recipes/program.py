import inspect
import runpy

calls = 0


def this_call(options):
    """Counts the hooked calls: is it the one that is wanted?"""
    global calls
    calls += 1
    return calls - 1 == options.call


def run_program(options):
    """The user's program, its calls hooked."""
    sys.argv = options.program
    sys.path.insert(0, os.path.dirname(options.program[0]))
    runpy.run_path(options.program[0], run_name="__main__")
    finish(options, f"the program made {calls} such calls; --call {options.call} wants another")


program_arguments = (
    ("--call", {"type": int, "default": 0, "help": "which of the program's calls, from 0 on"}),
    ("--program", {"nargs": argparse.REMAINDER, "required": True,
                   "help": "PROGRAM.py and its arguments; comes last"}),
)
