-- Programs have a file type of their own beside YAML: `yaml.yamlhost` keeps everything that is set up for YAML.
for _, pattern in ipairs({ "Pulumi.yaml", "Pulumi.yml", "Pulumi.*.yaml", "Pulumi.*.yml", "Main.yaml", "Main.yml", "PulumiPlugin.yaml" }) do
  vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
    pattern = pattern,
    command = "set filetype=yaml.yamlhost",
  })
end
