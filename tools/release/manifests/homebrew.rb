class Yamlhost < Formula
  desc "Runs Pulumi YAML and JSON programs with an engine of its own"
  homepage "https://github.com/yamlhost/yamlhost"
  version "{{.Version}}"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "{{.URL}}/yamlhost_{{.Version}}_darwin_arm64.tar.gz"
      sha256 "{{call .Sum "darwin_arm64.tar.gz"}}"
    end
    on_intel do
      url "{{.URL}}/yamlhost_{{.Version}}_darwin_amd64.tar.gz"
      sha256 "{{call .Sum "darwin_amd64.tar.gz"}}"
    end
  end
  on_linux do
    on_arm do
      url "{{.URL}}/yamlhost_{{.Version}}_linux_arm64.tar.gz"
      sha256 "{{call .Sum "linux_arm64.tar.gz"}}"
    end
    on_intel do
      url "{{.URL}}/yamlhost_{{.Version}}_linux_amd64.tar.gz"
      sha256 "{{call .Sum "linux_amd64.tar.gz"}}"
    end
  end

  def install
    bin.install "yamlhost", "pulumi-language-yaml", "pulumi-converter-yaml"
    bash_completion.install "completions/yamlhost.bash" => "yamlhost"
    zsh_completion.install "completions/_yamlhost"
    fish_completion.install "completions/yamlhost.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/yamlhost version")
  end
end
