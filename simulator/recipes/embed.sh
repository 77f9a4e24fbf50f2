#!/bin/sh
# The scripts given as C: RECIPE_FILE("name", "line\n", ...), for simulator/cli/recipe.c.
for file; do
    echo "RECIPE_FILE(\"$(basename "$file" .py)\","
    sed 's/[\\"]/\\&/g; s/^/"/; s/$/\\n",/' "$file"
    echo ')'
done
